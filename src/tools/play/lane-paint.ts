// Paints one instant of a run on a canvas: lanes, gate, and single requests or streams.
import type { Palette } from '../../report/chart-specs/palette.js';
import { type Instant, type MarkKind, type PlacedMark, stops } from './marks.js';

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
  readonly service: { readonly servers: number } | undefined;
  readonly isLimiting: boolean;
  /** Used share of the limit; may exceed 1. Undefined if unknown. */
  readonly used: number | undefined;
  readonly hasClients: boolean;
}

const HEAD = 20;
const RADIUS = 3.5;
const font = '12px system-ui, sans-serif';

export function paintMarks(scene: Scene, frame: Instant): void {
  paintLanes(scene, frame);
  const { context } = scene;
  for (const mark of frame.marks) {
    const [x, y] = placeOf(mark, scene);
    context.beginPath();
    context.arc(x, y, RADIUS, 0, 2 * Math.PI);
    context.fillStyle = context.strokeStyle = colorOf(mark.kind, scene.palette);
    // Retries are rings, so they differ from first attempts without colour.
    if (mark.isAgain || mark.kind === 'pausing') context.stroke();
    else context.fill();
    if (mark.kind === 'refused') paintCross(context, x, y);
  }
}

/** Streams, as thick as their requests per flight, where single marks would be too many. */
export function paintDensity(
  scene: Scene,
  { requests, limited }: { readonly requests: number; readonly limited: number },
): void {
  paintLanes(scene, undefined);
  const { context, palette, width, height } = scene;
  const room = (height - HEAD) * 0.8;
  const thick = (n: number) => (room * n) / Math.max(1, requests);
  const middle = HEAD + (height - HEAD) / 2;
  const band = (from: number, to: number, at: number, size: number, color: string) => {
    context.globalAlpha = 0.55;
    context.fillStyle = color;
    context.fillRect(from * width, at, (to - from) * width, size);
    context.globalAlpha = 1;
  };
  const admitted = thick(requests - limited);
  band(stops.clients, stops.gate, middle - room / 2, room, palette.muted);
  band(stops.gate, stops.out, middle - room / 2, admitted, palette.tones.admitted.color);
  band(stops.gate - 0.1, stops.gate, middle - room / 2 + admitted, thick(limited), palette.tones.limited.color);
}

function paintLanes(
  { context, width, height, palette, service, isLimiting, used, hasClients }: Scene,
  frame?: Instant,
): void {
  const gate = stops.gate * width;
  context.font = font;
  context.fillStyle = palette.muted;
  context.textBaseline = 'top';
  const label = (text: string, x: number, align: CanvasTextAlign) => {
    context.textAlign = align;
    context.fillText(text, x, 2);
  };
  label(hasClients ? 'clients' : 'requests', 4, 'left');
  label(isLimiting ? 'limiting' : 'gate', gate, 'center');
  context.fillStyle = palette.grid;
  context.fillRect(gate - 5, HEAD, 10, height - HEAD);
  if (used !== undefined) {
    const full = (height - HEAD) * Math.min(1, used);
    context.fillStyle = isLimiting ? palette.tones.limited.color : palette.tones.admitted.color;
    context.fillRect(gate - 5, height - full, 10, full);
  }
  context.strokeStyle = isLimiting ? palette.tones.limited.color : palette.muted;
  context.strokeRect(gate - 5, HEAD, 10, height - HEAD);
  context.fillStyle = palette.muted;
  if (service === undefined) return;
  const { columns } = slotsOf(service.servers, height);
  const left = stops.service * width - 10;
  label('service', left + 10, 'center');
  if (frame !== undefined && frame.waiting > 0) label(`${frame.waiting} waiting`, stops.service * width - 30, 'right');
  context.strokeStyle = palette.grid;
  context.strokeRect(left, HEAD, 20 + 10 * (columns - 1), height - HEAD - 1);
}

/** Queued requests fill columns from the service back to the gate. */
function placeOf({ kind, x, y }: PlacedMark, { width, height, service }: Scene): readonly [x: number, y: number] {
  const room = height - HEAD - 2 * RADIUS - 4;
  if (y !== undefined) {
    // Refused requests return below arriving ones.
    const half = kind === 'refused' ? 0.5 : 0;
    const share = kind === 'coming' ? y : half + y * (1 - half);
    return [x * width, HEAD + RADIUS + 2 + share * room];
  }
  if (x < 0) {
    const { rows, pitch } = slotsOf(service?.servers ?? 1, height);
    const server = -1 - x;
    return [stops.service * width + 10 * Math.floor(server / rows), HEAD + 8 + (server % rows) * pitch];
  }
  const rows = Math.max(1, Math.floor(room / 9));
  const columns = Math.max(1, Math.floor(((stops.service - stops.queue) * width - 20) / 9));
  // Overflow is drawn on the last column.
  const column = Math.min(columns - 1, Math.floor(x / rows));
  return [stops.service * width - 20 - 9 * column, HEAD + RADIUS + 2 + (x % rows) * 9];
}

function slotsOf(servers: number, height: number): { rows: number; columns: number; pitch: number } {
  const most = Math.max(1, Math.floor((height - HEAD - 8) / 9));
  const columns = Math.min(8, Math.ceil(servers / most));
  const rows = Math.ceil(servers / columns);
  return { rows, columns, pitch: Math.max(9, Math.min(24, (height - HEAD - 16) / Math.max(1, rows - 1))) };
}

function paintCross(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - RADIUS - 1, y - RADIUS - 1);
  context.lineTo(x + RADIUS + 1, y + RADIUS + 1);
  context.stroke();
}

function colorOf(kind: MarkKind, { tones, muted, ink }: Palette): string {
  switch (kind) {
    case 'coming':
      return ink;
    case 'refused':
    case 'pausing':
      return tones.limited.color;
    case 'wasted':
      return muted;
    case 'served':
      return tones.median.color;
    default:
      return tones.admitted.color;
  }
}
