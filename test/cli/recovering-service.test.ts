import { expect, it, vi } from 'vitest'
import { CliError } from '../../src/cli/cli-error.js'
import {
  MAX_OUTAGES_PER_CALL,
  RecoveringService,
  ServiceRecoveredError,
} from '../../src/cli/ingest/recovering-service.js'
import { Client } from '../../src/client/client.js'
import { ApiError, ConnectionError } from '../../src/client/errors.js'

const REFUSED = new ConnectionError('unreachable', 'cannot reach the local daemon (ECONNREFUSED)')
const TOKEN_REFUSED = new ApiError({ code: 'unauthenticated', status: 401, message: 'the token is not valid' })
const BULK = 'POST /knowledge-spaces/{id}/documents/bulk'
const UPLOAD = { path: { id: 'x' }, field: 'files' as const, files: [] }

/** A client whose calls fail with these errors in turn, and then succeed. */
function clientThat(...errors: Error[]): Client {
  const client = new Client({ url: 'http://127.0.0.1:1' })
  const act = async () => {
    const error = errors.shift()
    if (error !== undefined) throw error
    return { items: [] }
  }
  vi.spyOn(client, 'request').mockImplementation(act)
  vi.spyOn(client, 'upload').mockImplementation(act)
  return client
}

function serviceWith(clients: (Client | Error)[], { isTokenRenewed = true, stepMs = 1000 } = {}) {
  const [first, ...later] = clients
  if (!(first instanceof Client)) throw new Error('the first client exists')
  const notes: string[] = []
  const autostarts: boolean[] = []
  let clock = 0
  const service = new RecoveringService({
    client: first,
    reconnect: async ({ autostart }) => {
      autostarts.push(autostart)
      const next = later.length > 1 ? later.shift() : later[0]
      if (!(next instanceof Client)) throw next ?? REFUSED
      return next
    },
    name: 'the local daemon',
    isTokenRenewed,
    signal: new AbortController().signal,
    note: (text) => notes.push(text),
    now: () => clock,
    pause: async () => {
      clock += stepMs
    },
  })
  return { service, notes, autostarts }
}

const list = (service: RecoveringService) => service.request('GET /knowledge-spaces', { query: {} })

it('a call of an ingest waits for a service that restarts, says so, and is repeated', async () => {
  const { service, notes } = serviceWith([clientThat(REFUSED), REFUSED, REFUSED, clientThat()])
  expect(await list(service)).toEqual({ items: [] })
  expect(notes).toEqual([
    'ks: the local daemon does not answer: waiting up to 2 min for it',
    'ks: the local daemon answers again: continuing',
  ])
})

it('several calls that one outage broke wait once', async () => {
  const { service, notes } = serviceWith([clientThat(REFUSED, REFUSED, REFUSED), clientThat()])
  await Promise.all([list(service), list(service), list(service)])
  expect(notes).toHaveLength(2)
})

it('a daemon is started only after 5 s without one', async () => {
  const missing = new CliError('no daemon answers', { code: 'unreachable', exit: 8 })
  const { service, autostarts } = serviceWith([clientThat(REFUSED), ...Array(6).fill(missing), clientThat()])
  await list(service)
  expect(autostarts).toEqual([false, false, false, false, false, true, true])
})

it('the wait for a service ends after two minutes with an error that names it', async () => {
  const { service } = serviceWith([clientThat(REFUSED), REFUSED], { stepMs: 30_000 })
  await expect(list(service)).rejects.toMatchObject({
    code: 'timeout',
    message: 'the local daemon has not answered for 2 min',
  })
})

it('a token that a restart has renewed is read again; a refused token of a remote service ends the call', async () => {
  expect(await list(serviceWith([clientThat(TOKEN_REFUSED), clientThat()]).service)).toEqual({ items: [] })
  const remote = serviceWith([clientThat(TOKEN_REFUSED), clientThat()], { isTokenRenewed: false })
  await expect(list(remote.service)).rejects.toBe(TOKEN_REFUSED)
  expect(remote.notes).toEqual([])
})

it('a call that ends the service each time is given up', async () => {
  const always = clientThat(...Array(50).fill(REFUSED))
  vi.spyOn(always, 'request').mockImplementation(async (key) => {
    if (key !== 'GET /health') throw REFUSED
    return { items: [] }
  })
  const clients = Array.from({ length: MAX_OUTAGES_PER_CALL + 2 }, () => {
    const client = clientThat()
    vi.spyOn(client, 'request').mockImplementation(async (key) => {
      if (key !== 'GET /health') throw REFUSED
      return { items: [] }
    })
    return client
  })
  await expect(list(serviceWith([always, ...clients]).service)).rejects.toBe(REFUSED)
})

it('an upload that broke off is not repeated: its caller learns that the service is back', async () => {
  const next = clientThat()
  const { service } = serviceWith([clientThat(REFUSED), next])
  await expect(service.upload(BULK, UPLOAD)).rejects.toBeInstanceOf(ServiceRecoveredError)
  expect(next.upload).not.toHaveBeenCalled()
  expect(await service.upload(BULK, UPLOAD)).toEqual({ items: [] })
})
