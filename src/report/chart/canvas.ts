// The canvas that draws charts as pictures. Only this file imports chartjs-node-canvas. That package depends on `canvas`, which compiles
// native code when it is installed. So bundle.js bundles it into this file at build time, with the prebuilt @napi-rs/canvas instead.
export { createCanvas, GlobalFonts, loadImage } from '@napi-rs/canvas';
export { ChartJSNodeCanvas } from 'chartjs-node-canvas';
