/**
 * A user who may send a process of ours `SIGUSR1` opens a port in it through which everything can be read and run: that is
 * what Node does with the signal unless somebody listens for it. Imported first, for this effect alone. A listener holds
 * for the threads of a process too, and does not keep it alive.
 */
if (process.platform !== 'win32') process.on('SIGUSR1', () => undefined)
