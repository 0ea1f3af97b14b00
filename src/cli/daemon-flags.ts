import * as Flags from '@oclif/core/flags'

/** Flags of commands that start a daemon. */
export const daemonFlags = {
  listen: Flags.string({ helpValue: 'host:port', description: 'address to listen on; port 0 selects a free port' }),
  'insecure-listen': Flags.boolean({ description: 'allow a non-loopback address without TLS' }),
  'log-level': Flags.option({
    options: ['debug', 'info', 'warn', 'error'] as const,
    description: 'minimum log level',
  })(),
}

/** Converts the flags to arguments of `ksd`. */
export function toDaemonArguments(flags: {
  listen?: string | undefined
  'insecure-listen': boolean
  'log-level'?: string | undefined
  socket?: boolean
}): string[] {
  return [
    ...(flags.listen === undefined ? [] : ['--listen', flags.listen]),
    ...(flags['insecure-listen'] ? ['--insecure-listen'] : []),
    ...(flags['log-level'] === undefined ? [] : ['--log-level', flags['log-level']]),
    ...(flags.socket === false ? ['--no-socket'] : []),
  ]
}
