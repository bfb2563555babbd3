// The only import of chartjs-node-canvas. It depends on `canvas`, which compiles native code at installation, so the build bundles it
// into this file with the prebuilt @napi-rs/canvas instead.
export { createCanvas, GlobalFonts, loadImage } from '@napi-rs/canvas';
export { ChartJSNodeCanvas } from 'chartjs-node-canvas';
