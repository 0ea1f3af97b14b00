import { fetchFile } from '../fetch-file.js'
import { ReadError } from '../limits.js'
import { readPixelSize } from '../picture/size.js'
import { POINTS_PER_INCH } from '../render/points.js'
import { MAX_DPI, MAX_DRAWN_PIXELS } from './limits.js'
import type { PreviewImage, PreviewRequest } from './messages.js'

const JPEG_QUALITY = 82
const OPAQUE = 255

/**
 * Draws one picture, page or region of a page. @throws ReadError; after any other error this process must be replaced
 */
export async function draw(drawing: PreviewRequest): Promise<PreviewImage> {
  return drawing.of === 'picture' ? drawPicture(drawing) : drawPage(drawing)
}

async function drawPicture({ bytes, maxSide, as }: Extract<PreviewRequest, { of: 'picture' }>): Promise<PreviewImage> {
  const size = readPixelSize(bytes)
  if (size === undefined) throw new ReadError('malformed', 'it is not a picture of a supported type')
  if (size.width * size.height > MAX_DRAWN_PIXELS)
    throw new ReadError(
      'limit-exceeded',
      `it has ${size.width} x ${size.height} pixels, more than the limit of ${MAX_DRAWN_PIXELS.toLocaleString('en-US')}`,
    )
  const { PhotonImage } = await import('@silvia-odwyer/photon-node')
  const decoded = PhotonImage.new_from_byteslice(bytes)
  return encode(decoded.get_raw_pixels(), decoded.get_width(), decoded.get_height(), { maxSide, as })
}

async function drawPage(drawing: Extract<PreviewRequest, { of: 'page' }>): Promise<PreviewImage> {
  const { openPages } = await import('../render/pdf-pages.js')
  const pages = await openPages(await fetchFile(0), drawing.filename)
  try {
    if (drawing.page > pages.count) throw new ReadError('malformed', `the file has no page ${drawing.page}`)
    const { box } = drawing
    const area = box ?? pages.size(drawing.page)
    const dpi = Math.min(MAX_DPI, (drawing.maxSide * POINTS_PER_INCH) / Math.max(area.width, area.height, 1))
    const region =
      box === undefined ? {} : { region: { left: box.x, top: box.y, width: box.width, height: box.height } }
    const { data, width, height } = pages.render(drawing.page, { dpi, ...region })
    return await encode(data, width, height, drawing)
  } finally {
    pages.close()
  }
}

/** @param data rows of red, green, blue and alpha */
async function encode(
  data: Uint8Array,
  width: number,
  height: number,
  { maxSide, as }: Pick<PreviewRequest, 'maxSide' | 'as'>,
): Promise<PreviewImage> {
  const { PhotonImage, resize, SamplingFilter } = await import('@silvia-odwyer/photon-node')
  const scale = Math.min(1, maxSide / Math.max(width, height))
  const target = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
  if (as === 'image/jpeg') flattenOntoWhite(data)
  const source = new PhotonImage(data, width, height)
  const scaled = scale < 1 ? resize(source, target.width, target.height, SamplingFilter.Triangle) : source
  const bytes = as === 'image/jpeg' ? scaled.get_bytes_jpeg(JPEG_QUALITY) : scaled.get_bytes()
  if (scaled !== source) scaled.free()
  source.free()
  return { bytes, contentType: as, ...target }
}

/** Puts transparent pixels onto white, as on paper: JPEG would make them black. */
function flattenOntoWhite(data: Uint8Array): void {
  for (let index = 3; index < data.length; index += 4) {
    const alpha = data[index] ?? OPAQUE
    if (alpha === OPAQUE) continue
    for (let channel = index - 3; channel < index; channel++)
      data[channel] = Math.round(((data[channel] ?? 0) * alpha + 255 * (OPAQUE - alpha)) / OPAQUE)
    data[index] = OPAQUE
  }
}
