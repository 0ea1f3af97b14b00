import { expect, it } from 'vitest'
import { QueryGate } from '../../../../src/engine/retrieval/query/gate.js'

const never = new AbortController().signal

/** A gate with the outcome of each query, in the order of admission. */
function gateOf(limit: number, waiting: number) {
  const gate = new QueryGate(limit, waiting)
  const order: string[] = []
  const leave = new Map<string, () => void>()
  const enter = (tenant: string, name: string, signal = never) => {
    const entered = gate.enter(tenant, signal).then((end) => {
      order.push(name)
      leave.set(name, end)
    })
    return {
      name,
      outcome: entered.then(
        () => 'in',
        (error) => error.code,
      ),
    }
  }
  const end = async (name: string) => {
    leave.get(name)?.()
    await new Promise(setImmediate)
  }
  return { gate, order, enter, end }
}

it('the query gate admits a waiting query when a running one ends, and ignores a second release', async () => {
  const { gate, order, enter, end } = gateOf(2, 5)
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter('a', name)
  await new Promise(setImmediate)
  expect(order).toEqual(['a1', 'a2'])
  expect(gate.running).toBe(2)
  await end('a1')
  await end('a1')
  expect(order).toEqual(['a1', 'a2', 'a3'])
  for (const name of ['a2', 'a3', 'a4']) await end(name)
  expect(order).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect(gate.running).toBe(0)
})

it('the query gate admits one query of each waiting tenant in turn, the oldest query of a tenant first', async () => {
  const { order, enter, end } = gateOf(1, 10)
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter('a', name)
  for (const name of ['b1', 'b2']) enter('b', name)
  enter('c', 'c1')
  await new Promise(setImmediate)
  for (let n = 0; n < 7; n++) await end(order.at(-1) ?? '')
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

it('the full query gate evicts a query of the tenant with most waiting queries for a tenant with fewer', async () => {
  const { order, enter, end } = gateOf(1, 3)
  enter('a', 'a0')
  const a = ['a1', 'a2', 'a3'].map((name) => enter('a', name))
  const b1 = enter('b', 'b1')
  expect(await a[2]?.outcome).toBe('busy')
  // One more would make b the tenant with most waiting queries.
  expect(await enter('b', 'b2').outcome).toBe('busy')
  expect(await enter('a', 'a4').outcome).toBe('busy')
  for (let n = 0; n < 4; n++) await end(order.at(-1) ?? 'a0')
  expect(order).toEqual(['a0', 'a1', 'b1', 'a2'])
  expect(await b1.outcome).toBe('in')
})

it('the query gate rejects with busy, a retry delay and the numbers of running and waiting queries', async () => {
  const gate = new QueryGate(1, 0)
  await gate.enter('a', never)
  await expect(gate.enter('a', never)).rejects.toMatchObject({
    ...{ code: 'busy', retryAfter: 1, message: expect.stringContaining('1 queries are running and 0 are waiting') },
  })
})

it('the query gate frees the queue slot of a query that is aborted while it waits', async () => {
  const { order, enter, end } = gateOf(1, 1)
  enter('a', 'a1')
  const abandoned = new AbortController()
  const gone = enter('a', 'a2', abandoned.signal)
  abandoned.abort()
  expect(await gone.outcome).toBe('unavailable')
  enter('a', 'a3')
  await new Promise(setImmediate)
  await end('a1')
  expect(order).toEqual(['a1', 'a3'])
})

it('the query gate ignores the abort signal of a query that was admitted', async () => {
  const { gate, order, enter, end } = gateOf(1, 1)
  enter('a', 'a1')
  const late = new AbortController()
  enter('a', 'a2', late.signal)
  await new Promise(setImmediate)
  await end('a1')
  late.abort()
  expect(order).toEqual(['a1', 'a2'])
  expect(gate.running).toBe(1)
})

it('the query gate gives running queries foreground priority from admission until they leave', async () => {
  const events: string[] = []
  const begin = () => {
    events.push('begin')
    return () => events.push('end')
  }
  const gate = new QueryGate(1, 1, { beginQuery: begin } as never)
  const leave = await gate.enter('a', never)
  const next = gate.enter('a', never)
  expect(events).toEqual(['begin'])
  leave()
  leave()
  ;(await next)()
  expect(events).toEqual(['begin', 'end', 'begin', 'end'])
})
