/**
 * Flags of our child processes, for the time before `no-debugger.js` is loaded. A debugger that a signal starts in that
 * time would listen on an address that no machine has (RFC 5737), which fails. Node 20 has no flag that disables it.
 */
export const NO_DEBUGGER_FLAGS: readonly string[] = ['--inspect-port=192.0.2.1:9229']
