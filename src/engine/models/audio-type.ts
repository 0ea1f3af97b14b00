/** Detects the media type of audio by its first bytes; undefined for formats that browsers do not play. */
export function detectAudioType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 12)).toString('latin1')
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WAVE') return 'audio/wav'
  if (head.startsWith('ID3') || /^\xff[\xe2-\xff]/.test(head)) return 'audio/mpeg'
  if (head.startsWith('OggS')) return 'audio/ogg'
  if (head.startsWith('fLaC')) return 'audio/flac'
  return head.slice(4, 8) === 'ftyp' ? 'audio/mp4' : undefined
}
