/**
 * Disables the debugger that Node starts at `SIGUSR1`: its port would let a user read and run everything in the
 * process. A listener replaces that default, also for the threads of the process, and does not keep it alive. Imported
 * first, for this side effect.
 */
if (process.platform !== 'win32') process.on('SIGUSR1', () => undefined)
