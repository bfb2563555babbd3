// The page's theme: follows the system until the switch is used.
import { useEffect, useState } from 'preact/hooks';
import type { Theme } from '../../report/chart-specs/palette.js';

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

export function useTheme(): [theme: Theme, set: (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(prefersDark.matches ? 'dark' : 'light');
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  useEffect(() => {
    const follow = () => setTheme(prefersDark.matches ? 'dark' : 'light');
    prefersDark.addEventListener('change', follow);
    return () => prefersDark.removeEventListener('change', follow);
  }, []);
  return [theme, setTheme];
}
