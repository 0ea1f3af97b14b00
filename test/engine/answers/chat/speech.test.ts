import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectAudioFormat } from '../../../../src/engine/answers/chat/speech/audio-format.js'
import { AudioJoiner } from '../../../../src/engine/answers/chat/speech/joiner.js'
import { splitForSpeech, takeSentences, toSpeakableText } from '../../../../src/engine/answers/chat/speech/sentences.js'
import { createWavHeader, parseWav } from '../../../../src/engine/answers/chat/speech/wav.js'

const text = fc.array(fc.constantFrom('a', 'word ', '. ', '! ', '?"\n', '。', '😀', '\n\n', 'x'.repeat(50)), {
  maxLength: 60,
})

describe('sentence splitting', () => {
  test('pieces and rest join to the input, and none exceeds the limit', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 10, max: 100 }), (parts, longest) => {
        const whole = parts.join('')
        const { pieces, rest } = takeSentences(whole, longest)
        expect([...pieces, rest].join('')).toBe(whole)
        for (const piece of [...pieces, rest]) expect(piece.length).toBeLessThanOrEqual(longest)
      }),
    )
  })

  test('a text that arrives in parts is spoken completely and in order', () => {
    fc.assert(
      fc.property(text, (parts) => {
        const said: string[] = []
        let rest = ''
        for (const part of parts) {
          const taken = takeSentences(rest + part)
          said.push(...taken.pieces)
          rest = taken.rest
        }
        expect(said.join('') + rest).toBe(parts.join(''))
      }),
    )
  })

  test('pieces for a speech model contain several sentences if they fit into its limit, and omit only blanks', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 60, max: 400 }), (parts, longest) => {
        const pieces = splitForSpeech(parts.join(''), longest)
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(longest)
        expect(pieces.join('').replace(/\s/g, '')).toBe(parts.join('').replace(/\s/g, ''))
      }),
    )
    expect(splitForSpeech('One sentence that is long enough. Another one.', 4000)).toHaveLength(1)
  })

  test('a short sentence is joined with the next one', () => {
    expect(takeSentences('Yes. It opens at nine in the morning. On Sundays')).toEqual({
      pieces: ['Yes. It opens at nine in the morning. '],
      rest: 'On Sundays',
    })
  })

  test('Markdown, links, citations and thoughts are not read aloud', () => {
    const markdown =
      '<think>hm</think># Hours\n\n- It opens at **nine** [1], see [the page](http://x/y).\n```js\n`code`\n```'
    expect(toSpeakableText(markdown)).toBe('Hours It opens at nine , see the page. code')
    expect(toSpeakableText('<think>never ends')).toBe('')
  })
})

/** A WAV file with a given number of samples; a streamed one declares an endless size. */
function wav(samples: number, options: { rate?: number; streamed?: boolean } = {}): Buffer {
  const format = Buffer.alloc(16)
  format.writeUInt16LE(1, 0)
  format.writeUInt16LE(1, 2)
  format.writeUInt32LE(options.rate ?? 22_050, 4)
  const sound = Buffer.alloc(samples * 2, 7)
  return Buffer.concat([createWavHeader(format, options.streamed ? undefined : sound.length), sound])
}

describe('joining of audio', () => {
  test('several WAV files become one with the correct size in its header', () => {
    const joiner = new AudioJoiner()
    const pieces = [wav(10, { streamed: true }), wav(20), wav(5)].map((audio) =>
      joiner.append({ audio, mimeType: 'audio/wav' }),
    )
    const whole = joiner.join(pieces)
    expect(whole.equals(wav(35))).toBe(true)
    expect(whole.readUInt32LE(4)).toBe(whole.length - 8)
    expect(parseWav(whole)?.samples).toHaveLength(70)
  })

  test('MP3 pieces are concatenated; pieces of another type or sample rate are rejected', () => {
    const joiner = new AudioJoiner()
    const mp3 = { audio: Buffer.from('ID3'), mimeType: 'audio/mpeg' }
    expect(String(joiner.join([joiner.append(mp3), joiner.append(mp3)]))).toBe('ID3ID3')
    expect(() => joiner.append({ audio: wav(1), mimeType: 'audio/wav' })).toThrow('several types')
    const rates = new AudioJoiner()
    rates.append({ audio: wav(1), mimeType: 'audio/wav' })
    expect(() => rates.append({ audio: wav(1, { rate: 8000 }), mimeType: 'audio/wav' })).toThrow('several formats')
  })

  test('reading a WAV file never fails on arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.integer({ min: 0, max: 46 }), (noise, at) => {
        const bytes = wav(4)
        bytes.set(noise.subarray(0, Math.max(0, bytes.length - at)), at)
        const read = parseWav(bytes)
        expect((read?.samples.length ?? 0) <= bytes.length).toBe(true)
      }),
    )
  })
})

describe('detection of audio formats', () => {
  const noise = Buffer.alloc(64, 1)
  test.each([
    ['a.mp3', 'audio/mp3', 'mp3'],
    ['a', 'audio/mpeg', 'mp3'],
    ['a', 'audio/mpga', 'mpga'],
    ['a.mpeg', 'application/octet-stream', 'mpeg'],
    ['a', 'audio/mp4', 'mp4'],
    ['a', 'audio/m4a', 'm4a'],
    ['a', 'audio/x-m4a', 'm4a'],
    ['a', 'audio/wav', 'wav'],
    ['a', 'audio/x-wav', 'wav'],
    ['a', 'audio/wave', 'wav'],
    ['a', 'audio/vnd.wave', 'wav'],
    ['blob', 'audio/webm;codecs=opus', 'webm'],
    ['a', 'video/mp4', 'mp4'],
    ['a', 'Video/WebM; codecs="vp8,opus"', 'webm'],
    ['a.WAV', 'text/plain', 'wav'],
  ])('accepts %s with the declared type %s', async (name, type, extension) => {
    expect(await detectAudioFormat(noise, name, type)).toMatchObject({ extension })
  })

  test.each([
    ['a.ogg', 'audio/ogg'],
    ['a.txt', 'text/plain'],
    ['a', 'application/octet-stream'],
    ['a.aac', 'audio/aac'],
  ])('rejects %s with the declared type %s', async (name, type) => {
    expect(await detectAudioFormat(noise, name, type)).toBeUndefined()
  })

  test('recognized bytes overrule the name and the declared type', async () => {
    expect(await detectAudioFormat(wav(10), 'a.txt', 'text/plain')).toEqual({ extension: 'wav', mimeType: 'audio/wav' })
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154', 'hex')
    expect(await detectAudioFormat(png, 'a.mp3', 'audio/mpeg')).toBeUndefined()
  })
})
