// What a node can be built without: a store that several nodes share, and a door beside its API. Each is one line here, and is imported nowhere else.
import type { DoorOptions, OpenDoor } from './node.js';
import type { NodeStorage, StorageOptions } from './node-storage.js';

interface Leaves {
  readonly network?: () => Promise<(options: StorageOptions & { readonly url: string }) => Promise<NodeStorage>>;
  readonly envoy?: () => Promise<(options: DoorOptions) => OpenDoor>;
}

export const leaves: Leaves = {
  network: async () => (await import('./network/network-storage.js')).openNetworkStorage,
  envoy: async () => (await import('./envoy/door.js')).envoyDoor,
};
