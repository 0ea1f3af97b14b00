import { ERRORS, EXIT, KsError } from '../contract/errors.js'
import { openEngine } from '../engine/index.js'
import { resolveLocalDirs } from '../local/dirs.js'
import { toDiskError } from '../local/disk-error.js'
import { StoreDamagedError } from '../local/store-damaged-error.js'
import { enableEarlyCollection } from './heap-growth.js'
import type { MigrateFlags } from './migrate.js'
import { createKsdProgram, type DaemonFlags } from './program.js'
import { DataDirInUseError, type RunningDaemon, StopTimeoutError, startDaemon } from './run.js'

/** EX_DATAERR of sysexits.h: the data directory is damaged or incomplete. */
const EXIT_DATA_DAMAGED = 65
/** EX_TEMPFAIL of sysexits.h: another process owns the data directory, retry later. */
const EXIT_OWNED = 75
/** EX_SOFTWARE of sysexits.h: a defect of this program. */
const EXIT_DEFECT = 70
const EXIT_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** The `ksd` program. Exits when the daemon has stopped. */
export async function main(argv: string[]): Promise<void> {
  await createKsdProgram({ run, migrate }).parseAsync(argv, { from: 'user' })
}

async function run(flags: DaemonFlags): Promise<void> {
  enableEarlyCollection()
  process.umask(0o077) // Files in the data directory are for its owner only.
  let getStopSignal: () => StopSignal | undefined = () => undefined
  try {
    const daemon = await startDaemon({
      dataDir: flags.dataDir ?? resolveLocalDirs().data,
      mode: flags.mode,
      env: process.env,
      flags: {
        listen: flags.listen,
        backend: flags.backend,
        objects: flags.objects,
        search: flags.search,
        socket: flags.socket === false ? false : undefined,
        insecureListen: flags.insecureListen,
        logLevel: flags.logLevel,
      },
      openEngine,
      echoLog: process.stderr.isTTY === true && flags.mode !== 'auto',
    })
    getStopSignal = handleSignals(daemon)
    handleDefects(daemon)
    printReady(daemon, { asJson: flags.readyJson === true })
    await daemon.stopped
    process.exit(0)
  } catch (error) {
    if (error instanceof StopTimeoutError) {
      process.stderr.write(`ksd: ${error.message}\n`)
      process.exit(EXIT_SIGNALS[getStopSignal() ?? 'SIGTERM'])
    }
    process.exit(reportError(error, flags.mode))
  }
}

async function migrate(flags: MigrateFlags): Promise<void> {
  try {
    // Does not load the code of the daemon.
    const { migrateDatabase } = await import('./migrate.js')
    const { from, to } = await migrateDatabase(flags, process.env)
    const outcome =
      from === to ? `has schema ${to}: nothing to do` : `now has schema ${to}, previously ${from ?? 'empty'}`
    process.stdout.write(
      flags.json === true ? `${JSON.stringify({ from: from ?? null, to })}\n` : `the database ${outcome}\n`,
    )
  } catch (error) {
    process.exit(reportError(error, 'manual'))
  }
}

function printReady({ file }: RunningDaemon, { asJson }: { asJson: boolean }): void {
  process.stdout.on('error', () => {}) // The reader may close stdout.
  const { url, instance, pid, version, dataDir } = file
  process.stdout.write(
    asJson
      ? `${JSON.stringify({ url, instance, pid, version, dataDir })}\n`
      : `ksd ${version} answers at ${url} for ${dataDir}\n`,
  )
}

type StopSignal = keyof typeof EXIT_SIGNALS

/**
 * The first signal stops in order, the second one at once.
 * @returns a function that returns the signal that requested the stop
 */
function handleSignals(daemon: RunningDaemon): () => StopSignal | undefined {
  let requested: StopSignal | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (requested !== undefined) process.exit(EXIT_SIGNALS[signal])
      requested = signal
      daemon.stop(signal)
    })
  return () => requested
}

/** The state of a process after an unexpected error is unknown; everything acknowledged is on disk. */
function handleDefects(daemon: RunningDaemon): void {
  process.on('uncaughtException', (error) => {
    // Background work found the damage: after an exit, the next start would meet the same error and serve nothing.
    if (error instanceof KsError && error.code === 'data-damaged') {
      daemon.log.error({ err: error }, 'background work of the daemon found damaged data')
      return
    }
    daemon.log.fatal({ err: error }, 'the daemon exits because of a defect')
    process.exit(EXIT_DEFECT)
  })
}

function toErrorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** @returns the exit code */
function reportError(error: unknown, mode: DaemonFlags['mode']): number {
  if (error instanceof DataDirInUseError) {
    if (mode === 'auto') return 0 // Of several daemons started at once, one serves all callers.
    process.stderr.write(`ksd: ${error.message}\n`)
    return EXIT_OWNED
  }
  if (error instanceof StoreDamagedError) {
    process.stderr.write(`ksd: ${error.message}\n`)
    return EXIT_DATA_DAMAGED
  }
  if (error instanceof KsError) {
    process.stderr.write(`ksd: ${error.message}\n`)
    return ERRORS[error.code].exit
  }
  if (
    error instanceof Error &&
    'syscall' in error &&
    'path' in error &&
    /^E(ACCES|PERM|ROFS|NOTDIR)$/.test(toErrorCode(error))
  ) {
    process.stderr.write(`ksd: ${String(error.path)} cannot be used: ${error.message}\n`)
    return /^E(ACCES|PERM|ROFS)$/.test(toErrorCode(error)) ? EXIT.notAllowed : EXIT.failed
  }
  const diskError = toDiskError(error)
  if (diskError !== undefined) {
    process.stderr.write(`ksd: ${diskError.message}\n`)
    return ERRORS[diskError.code].exit
  }
  process.stderr.write(`ksd: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return EXIT_DEFECT
}
