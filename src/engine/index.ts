/** The engine's public surface: what the daemon and the chat service may use. */
export type * from './api.js'
export { openEngine } from './engine.js'
