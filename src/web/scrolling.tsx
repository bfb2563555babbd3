// A part of a page that scrolls by itself; the keyboard reaches it, too.
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
    <section aria-label={label} tabIndex={0} ref={place ?? null} {...others}>
      {children}
    </section>
  );
}
