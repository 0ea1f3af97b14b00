import type { CompiledElement } from '../../store/compiled.js'

/** A caption is a sentence or two; longer text only happens to start like one. */
const MAX_CAPTION_LENGTH = 600
/** Maximal number of pictures of the same figure between a picture and its caption. */
const MAX_PICTURES_BETWEEN = 6

/** `Figure 3`, `Abb. 2.1`: the words that number figures in common document languages. */
const NUMBERED_FIGURE =
  /^[[(]?\s*(?:fig(?:ure|ura|uur|\.)?|abb(?:ildung|\.)?|bild|grafik|diagramm|schaubild|image|picture|photo(?:graph)?|foto|illustration|ill\.|chart|graph|diagram|scheme|plate|map|karte|schéma|graphique|gráfico|grafico|grafiek|afbeelding|imagem|immagine|imagen|rysunek|rys\.|obr(?:ázek|\.)|slika|kuva|рис(?:унок|\.)?|図|图|圖|그림)\s*\.?\s*(?:\d|[ivxlc]{1,6}\b|[a-z]\.?\d)/iu

/** Whether a text reads like the caption of a figure. */
export function isFigureCaption(text: string): boolean {
  return text.length <= MAX_CAPTION_LENGTH && NUMBERED_FIGURE.test(text)
}

/** Finds the caption of a picture: usually below it, else above. @param index of the picture */
export function findCaption(elements: readonly CompiledElement[], index: number): CompiledElement | undefined {
  const picture = elements[index]
  if (picture === undefined) return undefined
  const findInDirection = (step: 1 | -1): CompiledElement | undefined => {
    for (let distance = 1; distance <= MAX_PICTURES_BETWEEN; distance++) {
      const element = elements[index + step * distance]
      if (element === undefined || element.pageNumber !== picture.pageNumber) return undefined
      if (element.type === 'image') continue
      return isCaption(element) ? element : undefined
    }
    return undefined
  }
  return findInDirection(1) ?? findInDirection(-1)
}

function isCaption({ type, text, metadata }: CompiledElement): boolean {
  if (text === undefined || text.length > MAX_CAPTION_LENGTH) return false
  if (metadata.role === 'caption') return true
  return (type === 'paragraph' || type === 'heading') && isFigureCaption(text)
}
