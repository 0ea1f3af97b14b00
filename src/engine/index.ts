/** The engine's public surface: what the daemon and the chat service may use. */
export type * from './api.js'
export type { Caller } from './base/caller.js'
export type { EngineOptions } from './base/options.js'
export { openEngine } from './engine.js'
