import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/engine/models/budget.js'
import { TokenMeter } from '../../../src/engine/models/meter.js'

const MODEL = { pluginId: 'p', provider: 'q', model: 'm' }

test('the token meter estimates input and output tokens until the provider reports its counts', () => {
  const meter = new TokenMeter()
  expect(meter.total()).toEqual({ inputTokens: 0, outputTokens: 0 })
  expect(meter.model()).toBeUndefined()
  const call = meter.startCall(MODEL, 12)
  expect(meter.total()).toEqual({ inputTokens: 0, outputTokens: 0 })
  call.begin()
  expect(meter.total()).toEqual({ inputTokens: 12, outputTokens: 0 })
  // The chunks form one text: they are not rounded up one by one.
  for (const piece of ['The ', 'shop ', 'opens.']) call.addText(piece)
  expect(meter.total()).toEqual({ inputTokens: 12, outputTokens: estimateTokens('The shop opens.') })
  call.setUsage(undefined)
  expect(meter.total().outputTokens).toBe(estimateTokens('The shop opens.'))
  call.setUsage({ outputTokens: 3 })
  expect(meter.total()).toEqual({ inputTokens: 12, outputTokens: 3 })
  const second = meter.startCall({ ...MODEL, model: 'n' }, 5)
  second.begin()
  expect(meter.model()?.model).toBe('n')
  expect(meter.total()).toEqual({ inputTokens: 17, outputTokens: 3 })
  second.cancel()
  expect(meter.model()?.model).toBe('m')
  expect(meter.total()).toEqual({ inputTokens: 12, outputTokens: 3 })
})
