// A section that scrolls on its own, and by keyboard.
import type { ComponentChildren, Ref } from 'preact';

interface ScrollingProps {
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
  readonly place?: Ref<HTMLElement>;
  readonly onScroll?: () => void;
}

export function Scrolling({ label, place, children, ...others }: ScrollingProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: makes it scrollable by keyboard
    <section aria-label={label} tabIndex={0} ref={place ?? null} {...others}>
      {children}
    </section>
  );
}
