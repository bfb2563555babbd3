// What draws charts as pictures. This is the only file that names chartjs-node-canvas. That package depends on `canvas`, which compiles
// native code where it is installed; bundle.js therefore puts it into this file at build time, on top of @napi-rs/canvas, which ships prebuilt.
export { GlobalFonts } from '@napi-rs/canvas';
export { ChartJSNodeCanvas } from 'chartjs-node-canvas';
