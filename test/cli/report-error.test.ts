import { describe, expect, it } from 'vitest'
import { CliError } from '../../src/cli/cli-error.js'
import { toUnknownCommandError } from '../../src/cli/command-not-found.js'
import { getExitCode, renderReport, toErrorReport } from '../../src/cli/report-error.js'
import { ApiError, ConnectionError, codeOfStatus, DaemonStartError, markRemote } from '../../src/client/errors.js'
import { ERRORS } from '../../src/contract/errors.js'

const api = (code: string, status: number, more = {}) => new ApiError({ code, status, message: 'said so', ...more })
const PLAIN = { bin: 'ks', isJson: false }

describe('the hint of a refusal for a missing scope', () => {
  const hintOf = (message: string) =>
    toErrorReport(new ApiError({ code: 'scope-missing', status: 403, message })).hint ?? ''

  it.each([
    ['the token lacks the scope knowledge-spaces:write', '--scope "knowledge-spaces:read knowledge-spaces:write"'],
    ['the token lacks the scope knowledge-spaces:*', '--scope "knowledge-spaces:*"'],
    ['only the operator of this daemon may do this', '--scope "knowledge-spaces:*"'],
  ])('states what is missing after %j', (message, wanted) => {
    expect(hintOf(message)).toContain(wanted)
  })

  it('does not exist if the message names no scope', () => {
    expect(hintOf('the space "s" has sources whose permissionScope leaves you out')).toBe('')
  })
})

describe('the hint of an error of a remote service', () => {
  const remote = (error: ApiError | ConnectionError) => {
    markRemote(error, 'https://kb.example.com')
    return toErrorReport(error).hint ?? ''
  }

  it.each([
    ['provider-not-configured', 501],
    ['storage-full', 503],
    ['internal', 500],
  ])('names no command of the local daemon for %s', (code, status) => {
    const hint = remote(api(code, status, { traceId: 't' }))
    expect(hint).toContain('operator')
    expect(hint).not.toContain('`ks daemon')
    expect(toErrorReport(api(code, status, { traceId: 't' })).hint).not.toContain('operator')
  })

  it('names the command that changes a setting only for a daemon of this machine', () => {
    const message = 'the provider refused the credentials; correct `providers` in the configuration of the daemon'
    const error = new ApiError({ code: 'unavailable', status: 503, message })
    expect(toErrorReport(error).hint).toContain('`ks config providers --daemon`')
    expect(remote(error)).toBe('the operator of the service can change its configuration')
  })

  it('names a login instead of a new token for a missing scope', () => {
    const message = 'the token lacks the scope knowledge-spaces:write'
    const hint = remote(new ApiError({ code: 'scope-missing', status: 403, message }))
    expect(hint).toContain('`ks auth login --url https://kb.example.com`')
    expect(hint).not.toContain('token create')
  })

  it('names no start of a daemon for an unreachable service', () => {
    expect(remote(new ConnectionError('unreachable', 'cannot reach https://kb.example.com'))).toBe(
      'check the address and the network; `ks context --show` shows why this service is used',
    )
  })
})

describe('an error on stderr', () => {
  it('consists of one sentence and one hint', () => {
    const error = new CliError('no space "note" here', { code: 'not-found', exit: 5, hint: 'did you mean `notes`?' })
    expect(renderReport(toErrorReport(error), PLAIN)).toBe('ks: no space "note" here\nhint: did you mean `notes`?\n')
  })

  it('consists of one JSON object if the command prints JSON', () => {
    const text = renderReport(toErrorReport(api('slug-taken', 409, { traceId: 't' })), { bin: 'ks', isJson: true })
    expect(JSON.parse(text)).toEqual({
      error: {
        code: 'slug-taken',
        message: 'said so',
        exitCode: 6,
        status: 409,
        traceId: 't',
        hint: 'choose another with `--slug`',
      },
    })
    expect(text.trim().split('\n')).toHaveLength(1)
  })

  it('contains the message of the service with escaped control sequences', () => {
    const text = renderReport(toErrorReport(new ApiError({ code: 'x', status: 400, message: '\u001b[2Jhm' })), PLAIN)
    expect(text).toBe('ks: ^[[2Jhm\n')
  })

  it('shows why a daemon did not start, the end of its log, and what to do', () => {
    const error = new DaemonStartError('the daemon exited before it was ready: 127.0.0.1:7733 is already in use', [
      'a',
      'b',
    ])
    expect(renderReport(toErrorReport(error), PLAIN)).toBe(
      'ks: the daemon exited before it was ready: 127.0.0.1:7733 is already in use\na\nb\nhint: `ks daemon start --listen 127.0.0.1:0`\n',
    )
    expect(toErrorReport(error).exitCode).toBe(8)
  })

  it('contains a remedy if waiting does not help, else the time to wait', () => {
    expect(toErrorReport(api('storage-full', 503, { retryAfter: 5 })).hint).toContain('free space on its disk')
    expect(toErrorReport(api('rate-limited', 429, { retryAfter: 5 })).hint).toBe('try again in 5 s')
    const full = new DaemonStartError('the daemon exited before it was ready: the disk of /data is full', [])
    expect(toErrorReport(full).hint).toContain('free disk space')
  })

  it('reports an unexpected exception as a bug', () => {
    expect(toErrorReport(new TypeError('x is undefined'))).toMatchObject({ exitCode: 1, code: 'unexpected' })
  })
})

describe('an exit code', () => {
  it('follows the contract for every known error code', () => {
    for (const [code, { status, exit }] of Object.entries(ERRORS)) expect(getExitCode(api(code, status))).toBe(exit)
  })

  it('follows the status for an unknown error code', () => {
    const statuses = [400, 401, 403, 404, 409, 413, 422, 429, 500, 501, 502, 503, 504]
    expect(statuses.map((status) => getExitCode(api('new-code', status)))).toEqual([
      2, 4, 4, 5, 6, 7, 7, 7, 1, 9, 8, 8, 8,
    ])
  })

  it('equals 8 without a response', () => {
    expect(toErrorReport(new ConnectionError('unreachable', 'x')).exitCode).toBe(8)
  })

  it('exists for every status of the contract', () => {
    expect([codeOfStatus(404), codeOfStatus(409), codeOfStatus(599)]).toEqual(['not-found', 'slug-taken', 'http-599'])
  })
})

describe('the hint for an unknown command', () => {
  const ids = ['spaces', 'spaces:create', 'spaces:delete', 'docs', 'docs:delete']
  it.each([
    [['spces'], 'did you mean `ks spaces`?'],
    [['spaces', 'creat'], 'did you mean `ks spaces create`?'],
    [['xyz'], '`ks --help` lists the commands'],
  ])('%s', (words, hint) => {
    const error = toUnknownCommandError(words, ids)
    expect([error.message, error.hint, error.exit]).toEqual([`unknown command \`ks ${words.join(' ')}\``, hint, 2])
  })
})
