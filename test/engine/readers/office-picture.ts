import { makeDocx, wordParagraph } from './read.js'

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const RELATIONS = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="p1" Type="${OFFICE}/image" Target="media/a.png"/></Relationships>`
const DRAWING = `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="x"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="${OFFICE}" r:embed="p1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`

/** A Word document with a picture between two sentences. */
export function makeDocxWithPicture(picture: Buffer): Buffer {
  const body = `${wordParagraph('How many people took the ferries:')}${DRAWING}${wordParagraph('That is all.')}`
  return makeDocx(body, [
    { name: 'word/_rels/document.xml.rels', content: RELATIONS },
    { name: 'word/media/a.png', content: picture },
  ])
}
