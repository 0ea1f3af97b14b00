/** The used functions of bidi-js, which has no types. */
declare module 'bidi-js' {
  interface EmbeddingLevels {
    levels: Uint8Array
  }
  interface Bidi {
    getEmbeddingLevels(text: string, direction: 'ltr' | 'rtl'): EmbeddingLevels
    /** Ranges to be reversed one after the other; the ends are inclusive. */
    getReorderSegments(text: string, levels: EmbeddingLevels): [start: number, end: number][]
    getMirroredCharacter(character: string): string | null
    getBidiCharTypeName(character: string): string
  }
  function createBidi(): Bidi
  export = createBidi
}
