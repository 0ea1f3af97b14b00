import { Command, Option } from 'commander'
import type { DaemonMode } from '../local/daemon-file.js'
import { resolveLocalPath } from '../local/local-path.js'
import type { MigrateFlags } from './migrate.js'
import { readProgramVersion } from './version.js'

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

/** The functions of the `ksd` commands. */
export interface KsdActions {
  run(flags: DaemonFlags): Promise<void> | void
  migrate(flags: MigrateFlags): Promise<void> | void
}

const BACKEND_HELP = 'database server, as postgres://user@host/name (default: a file of the data directory)'

export function createKsdProgram({ run, migrate }: KsdActions): Command {
  const program = new Command('ksd')
    .description('The local daemon of Knowledge Spaces: serves the gateway API of one data directory.')
    .version(readProgramVersion())
    .option(
      '--data-dir <folder>',
      "data directory (default: KS_DATA_DIR, or the platform's default)",
      (folder: string) => resolveLocalPath(folder),
    )
    .option('--listen <host:port>', 'address to listen on; port 0 selects a free one')
    .option('--backend <address>', BACKEND_HELP)
    .option('--objects <address>', 'storage of document bytes, as s3://bucket/prefix (default: the data directory)')
    .addOption(
      new Option(
        '--search <place>',
        'search index: files of the data directory (index), or the database server (postgres)',
      ).choices(['index', 'postgres']),
    )
    .option('--no-socket', 'do not listen on the unix socket of the data directory')
    .option('--insecure-listen', 'allow a non-loopback address without TLS')
    .option('--ready-json', 'print one line of JSON when the daemon is ready')
    .addOption(new Option('--log-level <level>', 'minimum log level').choices(['debug', 'info', 'warn', 'error']))
    .addOption(
      new Option('--mode <mode>', 'auto: use a free port if needed, exit when idle; manual, service: keep running')
        .choices(['auto', 'manual', 'service'])
        .default('manual'),
    )
    .action(run)
  program
    .command('migrate')
    .description('Migrate the database of a deployment to the schema of this version.')
    .option(
      '--data-dir <folder>',
      "data directory with the config.json to read (default: KS_DATA_DIR, or the platform's default)",
      (folder: string) => resolveLocalPath(folder),
    )
    .option('--backend <address>', BACKEND_HELP)
    .option('--new-keys', 'let the next gateway that starts define the keys of all gateways')
    .option('--json', 'print the result as JSON')
    // The program has options of the same names, which apply if they precede the command.
    .action((_, command: Command) => migrate(command.optsWithGlobals<MigrateFlags>()))
  return program
}
