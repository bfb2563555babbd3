// Method and path of an endpoint by its name. Bundles have them without the schemas of the endpoints: see src/build/bundle.js.
import type { RouteAddress } from '../endpoint.js';
import * as endpoints from './endpoints.js';

export type Endpoints = typeof endpoints;

const addresses: Readonly<Record<keyof Endpoints, RouteAddress>> = endpoints;

export function routeOf(name: keyof Endpoints): RouteAddress {
  return addresses[name];
}
