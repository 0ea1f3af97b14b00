import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { applicationRoutes } from '../../../src/contract/chat/application.js'
import { type ChatVisits, createChatVisits } from '../../../src/daemon/chat/visits.js'

const APP = '0198c0de-0000-7000-8000-000000000001'
const INFO = applicationRoutes.find(({ id }) => id === 'getChatInfo')

function visits(rateLimit = 0): ChatVisits {
  return createChatVisits({ signingKey: Buffer.alloc(32, 7), pages: [APP], frames: [], rateLimit, gateways: () => 1 })
}

// Limits refill over time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Counts how often work succeeds before a limit refuses it. */
async function countAdmitted(work: () => unknown): Promise<number> {
  for (let done = 0; done < 200; done++)
    try {
      await work()
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate-limited' })
      return done
    }
  return 200
}

test('a client address starts at most 20 visits of a chat page, while a second address can start further visits', async () => {
  const all = visits()
  const begin = (address: string) => () => all.beginForVisitor(APP, undefined, address)
  expect(await countAdmitted(begin('203.0.113.1'))).toBe(20)
  // a refused visit does not count for the limit of all visitors
  expect(await countAdmitted(begin('203.0.113.1'))).toBe(0)
  expect(await countAdmitted(begin('203.0.113.2'))).toBe(20)
  expect(await countAdmitted(begin('203.0.113.3'))).toBe(20)
  expect(await countAdmitted(begin('203.0.113.4'))).toBe(0)
})

test('requests that continue a visit of a chat page count for its visitor, not as new visits', async () => {
  const all = visits()
  const { token, user } = await all.beginForVisitor(APP, undefined, 'here')
  expect(await countAdmitted(() => all.beginForVisitor(APP, token, 'here'))).toBe(60)
  expect((await all.beginForVisitor(APP, undefined, 'here')).user).not.toBe(user)
})

test('a client address uses at most half of the model calls of all visitors, with any number of visits', async () => {
  const all = visits()
  const visit = (user: string) => ({ tenant: 'local', appId: APP, user, isOwner: false })
  let sent = 0
  expect(await countAdmitted(() => all.countModelCall(visit('visitor-1'), 'here'))).toBe(8)
  expect(await countAdmitted(() => all.countModelCall(visit(`visitor-${++sent}0`), 'here'))).toBe(22)
  expect(await countAdmitted(() => all.countModelCall(visit(`visitor-${++sent}0`), 'there'))).toBe(30)
})

test('all visitors together use at most half of the requests that rateLimit allows to keys', async () => {
  const all = visits(30)
  let sent = 0
  const next = () => ({ tenant: 'local', appId: APP, user: `visitor-${++sent}`, isOwner: false })
  expect(await countAdmitted(() => all.countRequest(next(), INFO))).toBe(15)
})
