import { Command, Option } from 'commander'
import type { DaemonMode } from '../local/daemon-file.js'
import type { MigrateFlags } from './migrate.js'
import { programVersion } from './version.js'

export interface DaemonFlags {
  dataDir?: string
  listen?: string
  backend?: string
  search?: string
  objects?: string
  socket?: boolean
  insecureListen?: boolean
  mode: DaemonMode
  readyJson?: boolean
  logLevel?: string
}

/** What the commands of `ksd` do. */
export interface Actions {
  run(flags: DaemonFlags): Promise<void> | void
  migrate(flags: MigrateFlags): Promise<void> | void
}

const BACKEND = 'server that has the database, as postgres://user@host/name; default a file of the data directory'

/** The options of `ksd`, with their help. */
export function ksdProgram({ run, migrate }: Actions): Command {
  const program = new Command('ksd')
    .description('The local daemon of Knowledge Spaces: serves the gateway API of one data directory.')
    .version(programVersion())
    .option('--data-dir <folder>', "data directory (default: KS_DATA_DIR, or the platform's place)")
    .option('--listen <host:port>', 'address to listen on; port 0 takes any free one')
    .option('--backend <address>', BACKEND)
    .option(
      '--objects <address>',
      'where the bytes of documents are, as s3://bucket/prefix; default the data directory',
    )
    .addOption(
      new Option(
        '--search <place>',
        'who looks for words and vectors: an index in the data directory, or the server',
      ).choices(['index', 'postgres']),
    )
    .option('--no-socket', 'do not listen on the unix socket of the data directory')
    .option('--insecure-listen', 'allow an address that is not loopback without TLS')
    .option('--ready-json', 'print one line of JSON when requests are answered')
    .addOption(
      new Option('--log-level <level>', 'least level that is logged').choices(['debug', 'info', 'warn', 'error']),
    )
    .addOption(
      new Option('--mode <mode>', 'auto: take a free port, leave when idle; manual, service: stay')
        .choices(['auto', 'manual', 'service'])
        .default('manual'),
    )
    .action(run)
  program
    .command('migrate')
    .description('Brings the database of a deployment to the schema of this version, and leaves.')
    .option('--data-dir <folder>', "whose config.json is read (default: KS_DATA_DIR, or the platform's place)")
    .option('--backend <address>', BACKEND)
    .option('--new-keys', 'the next gateway to start says anew which keys all must have')
    .option('--json', 'print the result as JSON')
    // the program has options of the same names, which take them where they stand before the command
    .action((_, command: Command) => migrate(command.optsWithGlobals<MigrateFlags>()))
  return program
}
