// Style of every tone, light and dark: the colours of Okabe and Ito, distinguishable with every common colour blindness, adjusted to a
// contrast of 3 : 1. Line styles and hatching repeat the meaning of the colours.
import type { Tone } from './spec.js';

interface ToneLook {
  readonly color: string;
  /** Dashes and gaps in px; empty for a solid line. */
  readonly dash: readonly number[];
}

export interface Palette {
  readonly ground: string;
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly shade: string;
  readonly shadeLine: string;
  readonly heat: readonly (readonly [red: number, green: number, blue: number])[];
  readonly tones: Readonly<Record<Tone, ToneLook>>;
  readonly states: { readonly admits: readonly string[]; readonly limits: readonly string[] };
}

export type Theme = 'light' | 'dark';

const looks: Readonly<Record<Tone, readonly [light: string, dark: string, dash?: readonly number[]]>> = {
  count: ['#0072b2', '#56b4e9'],
  admitted: ['#0072b2', '#56b4e9'],
  limited: ['#d55e00', '#f0823c'],
  threshold: ['#1c2128', '#e8ebef', [7, 4]],
  planned: ['#1c2128', '#e8ebef', [2, 3]],
  // A broad light line under a thin dark one: both are visible whether they agree or differ.
  predicted: ['#2aa37c', '#17805f'],
  observed: ['#1c2128', '#e8ebef'],
  difference: ['#b0407f', '#e08cbc'],
  queue: ['#0072b2', '#56b4e9'],
  jobs: ['#0072b2', '#56b4e9', [9, 3, 2, 3]],
  retries: ['#d55e00', '#f0823c'],
  median: ['#00875f', '#1fb68a'],
  tail: ['#b0407f', '#e08cbc'],
  response: ['#0072b2', '#56b4e9', [2, 3]],
  band: ['#56a5d8', '#2f7fb5'],
};

function tonesOf(theme: Theme): Palette['tones'] {
  const tones = Object.entries(looks).map(([tone, [light, dark, dash = []]]) => [
    tone,
    { color: theme === 'light' ? light : dark, dash },
  ]);
  return Object.fromEntries(tones);
}

export const palettes: Readonly<Record<Theme, Palette>> = {
  light: {
    ground: '#ffffff',
    ink: '#1c2128',
    muted: '#59626e',
    grid: '#e4e7eb',
    shade: 'rgba(213, 94, 0, 0.16)',
    shadeLine: 'rgba(190, 80, 0, 0.45)',
    heat: [
      [237, 244, 250],
      [120, 178, 222],
      [8, 64, 129],
    ],
    tones: tonesOf('light'),
    states: {
      admits: ['#00875f', '#6a4fb3', '#0072b2', '#5f7a00', '#00798c'],
      limits: ['#d55e00', '#8a6d00', '#b0407f', '#a61c3c', '#6b4a2b'],
    },
  },
  dark: {
    ground: '#14181d',
    ink: '#e8ebef',
    muted: '#a3adb8',
    grid: '#2c333b',
    shade: 'rgba(240, 130, 50, 0.22)',
    shadeLine: 'rgba(245, 150, 80, 0.5)',
    heat: [
      [30, 38, 48],
      [36, 108, 166],
      [176, 222, 250],
    ],
    tones: tonesOf('dark'),
    states: {
      admits: ['#1fb68a', '#b9a3ff', '#56b4e9', '#c5d86d', '#4dd0e1'],
      limits: ['#f0823c', '#d9c04a', '#e08cbc', '#ff8a9a', '#c49a6c'],
    },
  },
};

type Family = keyof Palette['states'];

/** Adds a colour property to each state: one family for states that admit, one for others; extra states share the last. */
export function stateTones<State extends { readonly admits: boolean }>(states: readonly State[]) {
  const next = { admits: 0, limits: 0 };
  return states.map((state) => {
    const family: Family = state.admits ? 'admits' : 'limits';
    next[family] += 1;
    const place = Math.min(next[family], palettes.light.states[family].length);
    return { ...state, family, place, tone: `${family}-${place}` };
  });
}

export function stateColors<State extends { readonly admits: boolean }>(states: readonly State[], palette: Palette) {
  return stateTones(states).map((state) => ({ ...state, color: palette.states[state.family][state.place - 1]! }));
}

/** Colours as custom properties; the page's theme switch overrides the system. */
export const themeStyle = `:root{${colors('light')}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${colors('dark')}}}
:root[data-theme=dark]{${colors('dark')}}
`;

function colors(theme: Theme): string {
  const { ground, ink, muted, grid, shade, tones, states } = palettes[theme];
  const isLight = theme === 'light';
  const named = {
    ground,
    panel: isLight ? '#f6f7f9' : '#1b2127',
    ink,
    muted,
    line: grid,
    link: tones.count.color,
    'link-soft': `${tones.count.color}26`,
    'link-pale': `${tones.count.color}66`,
    // Text needs 4.5 : 1, which these tones reach only on a dark ground.
    good: isLight ? '#007a55' : tones.median.color,
    bad: isLight ? '#b54a00' : tones.limited.color,
    'bad-soft': shade,
    ...Object.fromEntries(states.admits.map((color, index) => [`admits-${index + 1}`, color])),
    ...Object.fromEntries(states.limits.map((color, index) => [`limits-${index + 1}`, color])),
  };
  return `color-scheme:${theme};${Object.entries(named)
    .map(([name, color]) => `--${name}:${color};`)
    .join('')}`;
}
