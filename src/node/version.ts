// Owns the version that the node says it has. A test holds it against package.json, which is not there once the code is bundled.
export const VERSION = '0.1.0';
