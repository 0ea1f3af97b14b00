/**
 * Flags for processes of ours, for the time before `no-debugger.js` has been loaded in them: a debugger that the signal
 * starts then would listen on an address that no machine has (RFC 5737), which fails. Node 20 has no flag against it.
 */
export const NO_DEBUGGER_FLAGS: readonly string[] = ['--inspect-port=192.0.2.1:9229']
