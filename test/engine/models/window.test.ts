import { describe, expect, it } from 'vitest'
import { KsError } from '../../../src/contract/errors.js'
import { ProviderFailure } from '../../../src/engine/base/provider-failure.js'
import { estimateMaxTokens } from '../../../src/engine/models/tokens.js'
import { fitTexts, retryWithinWindow, streamWithinWindow } from '../../../src/engine/models/window.js'

const tooLong = () =>
  new KsError('provider-failed', 'too long', { cause: new ProviderFailure('context-too-long', 'status 400') })

describe('a model with a smaller window than configured', () => {
  it('gets a second request with half of the window, a third with a quarter, and no more', async () => {
    const windows: number[] = []
    const ask = async (window: number) => {
      windows.push(window)
      throw tooLong()
    }
    await expect(retryWithinWindow(8000, ask)).rejects.toThrow('too long')
    expect(windows).toEqual([8000, 4000, 2000])
  })

  it('gets no second request after another failure', async () => {
    let asked = 0
    const ask = async () => {
      asked++
      throw new KsError('provider-failed', 'refused')
    }
    await expect(retryWithinWindow(8000, ask)).rejects.toThrow('refused')
    expect(asked).toBe(1)
  })

  it('streams its answer to the request that fits', async () => {
    const pieces: string[] = []
    const ask = async function* (window: number) {
      if (window > 4000) throw tooLong()
      yield `asked with ${window}`
    }
    for await (const piece of streamWithinWindow(8000, ask)) pieces.push(piece)
    expect(pieces).toEqual(['asked with 4000'])
  })
})

describe('texts that share a window', () => {
  const long = 'The keeper writes the weather into the book. '.repeat(200)

  it('stay unchanged if they fit', () => {
    expect(fitTexts(['one', long], 100_000)).toEqual(['one', long])
  })

  it('lose their ends if they are long, and short texts stay complete', () => {
    const [short = '', ...cut] = fitTexts(['A short one.', long, long], 300)
    expect(short).toBe('A short one.')
    for (const text of cut) {
      expect(long.startsWith(text)).toBe(true)
      expect(estimateMaxTokens(text)).toBeGreaterThan(80)
    }
    expect([short, ...cut].reduce((sum, text) => sum + estimateMaxTokens(text), 0)).toBeLessThanOrEqual(300)
  })

  it('become empty if the window has no space', () => {
    expect(fitTexts(['one', 'two'], -5)).toEqual(['', ''])
  })
})
