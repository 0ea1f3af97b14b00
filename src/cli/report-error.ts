import { ApiError, ConnectionError, DaemonStartError, errnoOf } from '../client/errors.js'
import { ERRORS, EXIT, KsError } from '../contract/errors.js'
import { toErrorMessage } from '../lib/error-message.js'
import { CliError } from './cli-error.js'
import { getConfigurationHint } from './configuration-hint.js'
import { FILE_REASONS } from './file-reason.js'
import type { CommandError } from './json-output/error.js'
import { escapeInvisible, getTerminalWidth, tty } from './terminal.js'
import { writeErr } from './terminal-writer.js'

/** An error as shown to the user: one sentence, further lines, a hint, an exit code. */
export type ErrorReport = CommandError['error'] & { details: string[] }

/** Converts any thrown value to a report. */
export function toErrorReport(error: unknown): ErrorReport {
  if (error instanceof CliError) {
    return withHint(
      { code: error.code, message: error.message, exitCode: error.exit, details: error.details },
      error.hint,
    )
  }
  if (error instanceof ApiError) return toApiErrorReport(error)
  if (error instanceof DaemonStartError) {
    const report = { code: 'unreachable', message: error.message, exitCode: EXIT.unavailable, details: error.logTail }
    return withHint(report, getStartHint(error.message))
  }
  if (error instanceof ConnectionError) {
    const hint = error.code === 'timeout' ? undefined : getConnectionHint(error)
    return withHint({ code: error.code, message: error.message, exitCode: EXIT.unavailable, details: [] }, hint)
  }
  if (error instanceof KsError) {
    return { code: error.code, message: error.message, exitCode: ERRORS[error.code].exit, details: [] }
  }
  const fileErrorReport = toFileErrorReport(error)
  if (fileErrorReport !== undefined) return fileErrorReport
  const message = toErrorMessage(error)
  return withHint(
    { code: 'unexpected', message: `unexpected error (${message})`, exitCode: EXIT.failed, details: [] },
    'run again with `--debug`; `ks daemon logs -n 50` shows the log of the local daemon',
  )
}

/** The report for a file or folder that the system refused: its path and the reason. */
function toFileErrorReport(error: unknown): ErrorReport | undefined {
  if (!(error instanceof Error) || !('path' in error) || typeof error.path !== 'string') return undefined
  const errno = errnoOf(error) ?? ''
  const reason = FILE_REASONS[errno]
  if (reason === undefined) return undefined
  const exitCode = ['EACCES', 'EPERM', 'EROFS'].includes(errno) ? EXIT.notAllowed : EXIT.failed
  const message = `${JSON.stringify(error.path)} cannot be used: ${reason}`
  return { code: 'file-not-usable', message, exitCode, details: [] }
}

function toApiErrorReport(error: ApiError): ErrorReport {
  const report: ErrorReport = {
    code: error.code,
    message: error.status === 501 ? `${error.message} (status 501)` : error.message,
    exitCode: getExitCode(error),
    details: [],
    status: error.status,
  }
  if (error.traceId !== undefined) report.traceId = error.traceId
  return withHint(report, getApiHint(error))
}

function getConnectionHint({ remoteUrl }: ConnectionError): string {
  if (remoteUrl === undefined) return '`ks daemon` shows whether the local daemon runs'
  return 'check the address and the network; `ks context --show` shows why this service is used'
}

const HINTS_BY_CODE: Readonly<Record<string, string>> = {
  'slug-taken': 'choose another with `--slug`',
  'embedding-frozen': '`ks spaces update --embedding` moves its documents to another model',
  'migration-active': 'wait until it ends, or cancel it by its id: `ks spaces update SPACE --cancel-embedding ID`',
  unauthenticated: '`ks auth status` shows the token in use, `ks auth login` stores another',
}

/** Hints for the owner of the local daemon, and for a client of another machine. */
const HINTS_BY_SERVICE: Readonly<Record<string, { local: string; remote: string }>> = {
  'provider-not-configured': {
    local:
      '`ks config providers --daemon` shows the providers, which the daemon loads at its start; `ks models pull` downloads a model of `local/llama`',
    remote: 'the operator of the service can add the provider',
  },
  'storage-full': {
    local: 'free space on its disk; `ks gc` removes unused data',
    remote: 'the operator of the service has to free space on its disk; try again later',
  },
}

function getApiHint(error: ApiError): string | undefined {
  if (error.hint !== undefined) return error.hint
  if (Object.hasOwn(HINTS_BY_CODE, error.code)) return HINTS_BY_CODE[error.code]
  const service = error.remoteUrl === undefined ? 'local' : 'remote'
  if (Object.hasOwn(HINTS_BY_SERVICE, error.code)) return HINTS_BY_SERVICE[error.code]?.[service]
  const configurationHint = getConfigurationHint(error.message, { isLocal: service === 'local' })
  if (configurationHint !== undefined) return configurationHint
  if (error.code === 'scope-missing')
    return service === 'local' ? getScopeHint(error.message) : getRemoteScopeHint(error)
  if (error.retryAfter !== undefined) return `try again in ${error.retryAfter} s`
  if (error.status >= 500 && error.status !== 501 && error.traceId !== undefined) {
    if (service === 'remote') return `its operator finds the cause in the log by the trace id ${error.traceId}`
    return `\`ks daemon logs -n 50\` shows the cause, with the trace id ${error.traceId}`
  }
  return undefined
}

/** How to get the missing scope or the operator's token; undefined for other refusals. */
function getScopeHint(message: string): string | undefined {
  const scope = /\blacks the scope (knowledge-spaces:[a-z*]+)/.exec(message)?.[1]
  const all = 'knowledge-spaces:*'
  if (scope !== undefined) {
    const scopes = scope === all ? all : 'knowledge-spaces:read knowledge-spaces:write'
    return `\`ks auth token --scope "${scopes}"\` creates a token with it`
  }
  if (!message.startsWith('only the operator')) return undefined
  return `the operator's token has the tenant local and all scopes: \`ks\` uses it by default, and \`ks auth token --scope "${all}"\` creates one, both as the owner of the daemon's data directory`
}

/** A client cannot create tokens for another machine. */
function getRemoteScopeHint({ message, remoteUrl = '' }: ApiError): string | undefined {
  const scope = /\blacks the scope (knowledge-spaces:[a-z*]+)/.exec(message)?.[1]
  if (scope === undefined) return undefined
  return `ask the operator of the service for a token with it; \`ks auth login --url ${remoteUrl}\` stores it`
}

function getStartHint(message: string): string | undefined {
  if (/\bin use\b|EADDRINUSE/.test(message)) return '`ks daemon start --listen 127.0.0.1:0`'
  if (/\bis full\b/.test(message)) return 'free disk space, or set another folder with KS_DATA_DIR'
  return '`ks doctor` checks this installation'
}

/** Exit code of a response: of its error code, or of its status if the code is unknown. */
export function getExitCode(error: ApiError): number {
  const [, definition] = Object.entries(ERRORS).find(([code]) => code === error.code) ?? []
  if (definition !== undefined) return definition.exit
  const { status } = error
  if (status === 401 || status === 403) return EXIT.notAllowed
  if (status === 404 || status === 410) return EXIT.notFound
  if (status === 409 || status === 412) return EXIT.conflict
  if (status === 413 || status === 422 || status === 429) return EXIT.overLimit
  if (status === 501) return EXIT.notConfigured
  if (status === 502 || status === 503 || status === 504) return EXIT.unavailable
  return status >= 400 && status < 500 ? EXIT.usage : EXIT.failed
}

/** `bin` is the name of the program. */
type ReportFormat = { bin: string; isJson: boolean }

/** Renders the report for stderr: `ks: …` and `hint: …` for people, else one JSON object. */
export function renderReport(report: ErrorReport, { bin, isJson }: ReportFormat): string {
  if (isJson) {
    const { details: _, ...error } = report
    return `${escapeInvisible(JSON.stringify({ error } satisfies CommandError))}\n`
  }
  const lines = [`${bin}: ${tty(report.message)}`, ...report.details.map(tty)]
  if (report.hint !== undefined) lines.push(`hint: ${tty(report.hint)}`)
  return `${lines.join('\n')}\n`
}

/** The stack of an error, for `--debug`. */
export function formatStack(error: Error): string {
  return `${tty(error.stack ?? '')}\n`
}

/** Writes the report to stderr, wrapped for a terminal. */
export async function printReport(report: ErrorReport, format: ReportFormat): Promise<void> {
  const { stderr, env } = process
  const text = renderReport(report, format)
  if (format.isJson || !stderr.isTTY) return void writeErr(text)
  const { wrapLines } = await import('./prose.js')
  writeErr(wrapLines(text, getTerminalWidth(stderr, env)))
}

function withHint(report: ErrorReport, hint: string | undefined): ErrorReport {
  return hint === undefined ? report : { ...report, hint }
}
