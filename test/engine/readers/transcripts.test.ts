import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../src/engine/readers/limits.js'
import { compileBytes } from '../../../src/engine/readers/read-document.js'
import type { RecordedSpeech } from '../../../src/engine/store/compiled.js'

const MP3 = Buffer.from('ID3\x04\0\0\0\0\0\0 and no sound', 'latin1')

async function compileTranscript(speech: Omit<RecordedSpeech, 'by'>, bytes = MP3, filename = 'talk.mp3') {
  const transcript = { by: 'ears/whisper', ...speech }
  return await compileBytes(bytes, { filename, transcript }, DEFAULT_LIMITS)
}

/** Paragraphs with the times in their metadata. */
async function spoken(speech: Omit<RecordedSpeech, 'by'>) {
  const { elements } = await compileTranscript(speech)
  return elements.flatMap(({ text, metadata }) =>
    text === undefined ? [] : [`${metadata.startTime ?? '?'}-${metadata.endTime ?? '?'} ${text}`],
  )
}

const TWO = ['00:00:01-00:00:04 The lock opens at dawn.', '00:02:05-00:02:09 The ferry waits.']

describe('the transcript of a recording', () => {
  it('gives paragraphs with times from segments, SRT, WebVTT, and the output of Whisper programs', async () => {
    const segments = [
      { start: 1, end: 4.2, text: ' The lock opens at dawn.' },
      { start: 125, end: 9e9, text: ' The ferry waits.' },
      { start: Number.NaN, end: 1, text: '  ' },
    ]
    expect(await spoken({ text: 'all', segments: [segments[0]!, { ...segments[1]!, end: 129 }] })).toEqual(TWO)
    const srt =
      '1\n00:00:01,000 --> 00:00:04,200\nThe lock opens\nat dawn.\n\n2\n00:02:05,000 --> 00:02:09,000\nThe ferry waits.\n'
    expect(await spoken({ text: srt })).toEqual(TWO)
    expect(await spoken({ text: `WEBVTT\n\n${srt.replaceAll(',', '.')}` })).toEqual(TWO)
    const lines =
      '[00:01.000 --> 00:04.200]  The lock opens at dawn.\n[00:02:05.000 --> 00:02:09.000]   The ferry waits.\n'
    expect(await spoken({ text: lines })).toEqual(TWO)
    const whisper = { text: 'all', language: 'en', segments: [segments[0], { ...segments[1], end: 129 }, segments[2]] }
    expect(await spoken({ text: JSON.stringify(whisper) })).toEqual(TWO)
    const transcription = [
      { offsets: { from: 1000, to: 4200 }, text: ' The lock opens at dawn.' },
      { offsets: { from: 125_000, to: 129_000 }, text: ' The ferry waits.' },
    ]
    expect(await spoken({ text: JSON.stringify({ model: {}, transcription }) })).toEqual(TWO)
  })

  it('gives paragraphs without times if the model returns plain text', async () => {
    expect(await spoken({ text: 'The lock opens\nat dawn.\n\nThe ferry waits.' })).toEqual([
      '?-? The lock opens at dawn.',
      '?-? The ferry waits.',
    ])
    expect(await spoken({ text: '{"text": "The lock opens at dawn."}' })).toEqual(['?-? The lock opens at dawn.'])
    expect(await spoken({ text: '{no JSON}' })).toEqual(['?-? {no JSON}'])
  })

  it('consists of sections of two minutes, and names the transcriber', async () => {
    const segments = [0, 60, 130, 7300].map((start) => ({ start, end: start + 5, text: `Said at ${start}.` }))
    const { nodes, metadata, title, mediaType } = await compileTranscript({ text: '', segments })
    expect(nodes.map(({ sectionPath }) => sectionPath)).toEqual([
      ['00:00:00 – 00:02:00'],
      ['00:02:00 – 00:04:00'],
      ['02:00:00 – 02:02:00'],
    ])
    expect({ title, mediaType }).toEqual({ title: 'talk', mediaType: 'audio/mpeg' })
    expect(metadata).toMatchObject({ transcript: { by: 'ears/whisper' }, duration: '02:01:45', cueCount: 4 })
  })

  it('names the speakers that the model names', async () => {
    const text = JSON.stringify({ segments: [{ start: 0, end: 1, text: ' Ahoy.', speaker: 'SPEAKER_00' }] })
    expect(await spoken({ text })).toEqual(['00:00:00-00:00:01 SPEAKER_00: Ahoy.'])
  })

  it('fails because of no speech if the transcript is empty', async () => {
    for (const text of ['', ' \n\n ', 'WEBVTT\n\n', '{"text": ""}', '[]', '{"segments": [1, null, {}]}'])
      await expect(compileTranscript({ text })).rejects.toThrow('talk.mp3: ears/whisper found no speech')
  })

  it('does not apply to a Markdown file or a MIDI file', async () => {
    const { text } = await compileTranscript({ text: 'said' }, Buffer.from('# Note\n\nWritten.'), 'note.md')
    expect(text).not.toContain('said')
    await expect(
      compileTranscript({ text: 'said' }, Buffer.from('MThd\0\0\0\x06\0\0\0', 'latin1'), 'a.mid'),
    ).rejects.toThrow('a.mid is a sound file (audio/midi), which cannot be read yet')
  })
})

it('damaged transcripts are read, or fail as empty', async () => {
  const whole = [
    '[00:01.000 --> 00:04.200]  The lock opens at dawn.\n'.repeat(20),
    'WEBVTT\n\n1\n00:00:01.000 --> 00:00:04.200\n<v Ada>The lock opens.</v>\n\n'.repeat(20),
    JSON.stringify({ segments: Array.from({ length: 20 }, (_, n) => ({ start: n, end: n + 1, text: `Said ${n}` })) }),
    '['.repeat(200_000),
    `[${'0'.repeat(100_000)}`,
    '00:01.000 --> '.repeat(20_000),
  ]
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % below
  }
  for (let round = 0; round < 300; round++) {
    const text = whole[round % whole.length] ?? ''
    const at = random(text.length)
    const broken = round % 2 === 0 ? text.slice(0, at) : `${text.slice(0, at)}\0-->[{${text.slice(at + random(9))}`
    const outcome = await compileTranscript({ text: broken }).then(
      ({ nodes }) => nodes.length > 0,
      (error: unknown) => /found no speech/.test(String(error)),
    )
    expect(outcome).toBe(true)
  }
})
