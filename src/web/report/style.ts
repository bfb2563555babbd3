// Owns the looks of the page: light and dark, wide and narrow, on paper.
import { palettes, type Theme } from '../../report/chart/palette.js';

function colors(theme: Theme): string {
  const { ground, ink, muted, grid, tones } = palettes[theme];
  const panel = theme === 'light' ? '#f6f7f9' : '#1b2127';
  return `color-scheme:${theme};--ground:${ground};--panel:${panel};--ink:${ink};--muted:${muted};--line:${grid};--link:${tones.count.color};--good:${tones.median.color};--bad:${tones.limited.color};`;
}

/** Heights of charts in steps of 40 px: the page forbids styles of single elements. */
const heights = Array.from({ length: 27 }, (_, index) => `.h${index + 3}{height:${(index + 3) * 40}px}`).join('');

export const style = `
:root{${colors('light')}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${colors('dark')}}}
:root[data-theme=dark]{${colors('dark')}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
.page{max-width:1080px;margin:0 auto;padding:1.25rem 1rem 3rem}
#theme{flex:none;white-space:nowrap}
header{display:flex;gap:1rem;align-items:flex-start;justify-content:space-between}
.verdict{margin:0;font-size:1.1rem;font-weight:650}
.verdict b{display:inline-block;padding:.1rem .7rem;margin-right:.4rem;border:2px solid currentColor;border-radius:99px;white-space:nowrap}
.held b{color:var(--good)}
.broken b{color:var(--bad)}
h1{margin:.6rem 0 0;font-size:1.6rem;line-height:1.25}
h2{margin:2.2rem 0 .6rem;font-size:1.15rem}
.question{margin:.3rem 0 0;color:var(--muted);font-size:1.05rem}
.facts{margin:.5rem 0 0;color:var(--muted);font-size:.9rem}
a{color:var(--link)}
button,select,input{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--muted);border-radius:6px;padding:.3rem .6rem;min-height:2.2rem;max-width:100%}
button{cursor:pointer}
button:disabled{opacity:.45;cursor:default}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(8.6rem,1fr));gap:.6rem;margin:0}
.figures div{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.5rem .7rem}
.figures dt{color:var(--muted);font-size:.85rem}
.figures dd{margin:0;font-size:1.2rem;font-weight:600;font-variant-numeric:tabular-nums}
.figures small{display:block;font-size:.8rem;font-weight:400;color:var(--muted)}
figure{margin:0 0 1.8rem}
figure h3{margin:0;font-size:1rem}
figcaption{color:var(--muted);font-size:.9rem}
.chart{position:relative;width:100%;margin-top:.3rem}
${heights}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .6rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right}
.n,[data-title=held]{overflow-wrap:break-word}
[data-title=held]{white-space:nowrap}
th[scope=row]{min-width:7.5rem;overflow-wrap:break-word;font-weight:500;position:sticky;left:0;background:var(--ground)}
.scroll:focus-visible{outline-offset:0}
td small,th small{display:block;font-weight:400;color:var(--muted)}
#transitions td:first-child{min-width:4.5rem}
th button{border:0;background:none;padding:0;min-height:0;font-weight:650}
th button::after{content:" ↕";color:var(--muted)}
th[aria-sort=ascending] button::after{content:" ↑";color:inherit}
th[aria-sort=descending] button::after{content:" ↓";color:inherit}
.ok{color:var(--good);font-weight:700}
.no{color:var(--bad);font-weight:700}
form{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end;margin:0 0 .6rem}
label{display:grid;gap:.15rem;font-size:.85rem;color:var(--muted)}
label>*{color:var(--ink);font-size:1rem}
.pager{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin-top:.6rem}
pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.7rem;white-space:pre-wrap;margin:0}
.whole{display:inline-block;max-width:100%}
ul.notes{padding-left:1.2rem}
footer{margin-top:2.5rem;color:var(--muted);font-size:.85rem}
@media (max-width:560px){
h1{font-size:1.3rem}
.page{padding:.8rem .75rem 2rem}
.stack thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.stack tr{display:block;padding:.4rem 0;border-bottom:1px solid var(--line)}
.stack td{display:grid;grid-template-columns:7.5rem 1fr;border:0;padding:.1rem 0;text-align:left}
.stack td::before{content:attr(data-title);color:var(--muted)}
.stack td.n{text-align:left}
#transitions{font-size:.82rem}
#transitions th,#transitions td{padding:.3rem .25rem}
#transitions th button::after{content:""}
#transitions th[aria-sort=ascending] button::after{content:" ↑"}
#transitions th[aria-sort=descending] button::after{content:" ↓"}
#theme{font-size:.85rem;padding:.2rem .4rem}
.figures dd{font-size:1.05rem}
}
@media print{
.page{max-width:none;padding:0}
#theme,form,.pager{display:none}
th button::after{content:""!important}
th[scope=row]{position:static}
h2,h3{break-after:avoid}
figure,tr,.figures div,pre{break-inside:avoid}
.scroll{overflow:visible}
canvas{max-width:100%!important;height:auto!important}
}
`;
