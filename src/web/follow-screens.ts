// Follows what a command under way sends to its page, and opens the report at the end. Runs in the browser.

const REPORT_AFTER_MS = 600;

/** @returns what ends it */
export function followScreens<Screen extends { readonly ended?: { readonly hasReport: boolean } | undefined }>(
  show: (screen: Screen) => void,
  onLost: () => void,
): () => void {
  const source = new EventSource('events');
  source.onmessage = ({ data }) => {
    const screen = JSON.parse(data as string) as Screen;
    show(screen);
    if (screen.ended === undefined) return;
    source.close();
    if (screen.ended.hasReport) setTimeout(() => location.replace('report'), REPORT_AFTER_MS);
  };
  source.onerror = onLost;
  return () => source.close();
}
