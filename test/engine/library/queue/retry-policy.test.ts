import { describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import {
  findFinalFailure,
  getRetryDelay,
  getWaitDelay,
  isTemporaryError,
  MAX_JOB_RETRY_DELAY_MS,
  mayBePoison,
  toJobFailure,
} from '../../../../src/engine/library/queue/retry-policy.js'
import { IndexProcessFailedError } from '../../../../src/engine/search/ports.js'

const DAY = 24 * 60 * 60 * 1000
const coded = (code: unknown) => Object.assign(new Error('broken'), { code })

it('the pauses before retries of a job double from one second to a maximum, shortened randomly by up to half', () => {
  const between = (pause: (n: number) => number, n: number, full: number) => {
    const drawn = Array.from({ length: 200 }, () => pause(n))
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(full / 2)
    expect(Math.max(...drawn)).toBeLessThanOrEqual(full)
    expect(Math.max(...drawn) - Math.min(...drawn)).toBeGreaterThan(full / 5)
  }
  for (const [n, full] of [1000, 2000, 4000, 8000, 16_000].entries()) {
    between(getRetryDelay, n, full)
    between(getWaitDelay, n, full)
  }
  between(getRetryDelay, 20, MAX_JOB_RETRY_DELAY_MS)
  between(getWaitDelay, 20, 30_000)
})

describe('the retry policy for a failure', () => {
  it.each([
    ['a service that is away', new KsError('unavailable', 'away'), true],
    ['a full disk', new KsError('storage-full', 'full'), true],
    ['a wrong request', new KsError('invalid-request', 'wrong'), false],
    ['a disk without room', coded('ENOSPC'), true],
    ['too many open files', coded('EMFILE'), true],
    ['a database locked by another process', coded('SQLITE_BUSY'), true],
    ['a damaged row', coded('SQLITE_CORRUPT'), false],
    ['a code that is not a string', coded(28), false],
    ['an error without a code', new Error('broken'), false],
    ['a value that is no error', { code: 'ENOSPC' }, false],
    ['the death of the index process', new IndexProcessFailedError(new Error('it ended')), false],
  ])('classifies %s as temporary or permanent', (_, error, passes) => {
    expect(isTemporaryError(error)).toBe(passes)
  })

  it('treats a death of the index process as possibly caused by the job, with a separate message', () => {
    const died = new IndexProcessFailedError(new Error('it ended with SIGKILL'))
    expect([mayBePoison(died), mayBePoison(new Error('broken'))]).toEqual([true, false])
    expect(toJobFailure(died)).toEqual({ code: 'crashed', message: expect.stringContaining('search index process') })
    expect(toJobFailure(new KsError('not-found', 'gone'))).toEqual({ code: 'not-found', message: 'gone' })
    expect(toJobFailure(new TypeError('broken'))).toEqual({ code: 'internal', message: 'TypeError: broken' })
    expect(toJobFailure('broken')).toEqual({ code: 'internal', message: 'broken' })
  })

  const job = (fields: { attempts?: number; waiting_since?: number | null }) =>
    ({ attempts: 0, waiting_since: null, ...fields }) as Parameters<typeof findFinalFailure>[0]
  const failure = { code: 'internal', message: 'broken' }

  it('gives up at the fifth attempt with the last failure', () => {
    expect([0, 3, 4, 9].map((attempts) => findFinalFailure(job({ attempts }), failure, false, 0))).toEqual([
      ...[undefined, undefined, failure, failure],
    ])
  })

  it('gives up on a temporary failure after seven days of waiting, regardless of the attempts', () => {
    const after = (waited: number | null) =>
      findFinalFailure(
        job({ attempts: 99, waiting_since: waited === null ? null : 1000 }),
        failure,
        true,
        1000 + (waited ?? 0),
      )
    expect([null, 0, 6 * DAY, 7 * DAY - 1].map(after)).toEqual([undefined, undefined, undefined, undefined])
    expect(after(7 * DAY)).toEqual({ code: 'internal', message: 'broken: not resolved within 7 days' })
  })
})
