import { ReadError } from './limits.js'
import { isRecording } from './recording.js'
import { getFileEnding } from './sniff.js'

/** Names of unsupported types for people; the first that matches applies. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/mspublisher/, 'a Publisher document'],
  [/visio/, 'a Visio drawing'],
  [/x-hwp/, 'a Hangul document'],
  [/ms-works/, 'a document of Microsoft Works'],
  [/iwork/, 'a document of Pages, Numbers or Keynote'],
  [/solidworks/, 'a SolidWorks model'],
  [/vnd\.dwg/, 'an AutoCAD drawing'],
  [/photoshop/, 'a Photoshop picture'],
  [/postscript/, 'a PostScript document'],
  [/dicom/, 'a medical picture (DICOM)'],
  [/ms-access/, 'an Access database'],
  [/outlook-pst/, 'an Outlook mailbox (PST)'],
  [/htmlhelp/, 'a compiled help file'],
  [/x-msi/, 'an installer of Windows'],
  [/ms-shortcut/, 'a shortcut of Windows'],
  [/thumbnails/, 'a cache of thumbnails'],
  [/bplist/, 'a binary property list'],
  [/gguf/, 'a language model'],
  [/hdf5|x-npy|avro|x-orc/, 'a file of binary data'],
  [/blender|^model\//, 'a 3D model'],
  [/flash/, 'a Flash film'],
  [/spreadsheet|ms-excel/, 'a spreadsheet'],
  [/presentation|ms-powerpoint/, 'a presentation'],
  [/msword|opendocument\.text|rtf|wordperfect|pocketword/, 'a word-processor document'],
  [/opendocument|openxmlformats/, 'an office document'],
  [/epub|ebook/, 'an e-book'],
  [/djvu/, 'a DjVu document'],
  [/onenote/, 'a section of OneNote'],
  [/^image\//, 'a picture'],
  [/^audio\//, 'a sound file'],
  [/^video\//, 'a video'],
  [/^font\//, 'a font'],
  [/outlook|rfc822/, 'an e-mail'],
  [/android|java-vm|java-archive|executable|wasm|bitcode/, 'a program'],
  [/zip|gzip|tar|bzip2|xz|zstd|7z|rar|archive|cab-|compress|rpm/, 'an archive'],
  [/sqlite|parquet/, 'a database file'],
]

/** Unsupported archives, by the names that people use for them. */
const UNSUPPORTED_ARCHIVES: Readonly<Record<string, string>> = {
  'application/x-7z-compressed': 'a 7-Zip archive',
  'application/vnd.rar': 'a RAR archive',
  'application/x-bzip2': 'packed by bzip2',
  'application/x-xz': 'packed by xz',
  'application/zstd': 'packed by zstd',
}

/** Endings of supported formats whose files are recognized by their first bytes. */
const RECOGNISED_BY_BYTES = new Set(
  'pdf docx dotx xlsx xls pptx odt odp ods epub rtf msg doc dot ppt pps xlsb odg vsdx vsd pub zip tar gz tgz png jpg jpeg gif bmp webp tif tiff'.split(
    ' ',
  ),
)

/** Creates the error for a type without a parser: one sentence that names the type. */
export function createUnsupportedError(filename: string, mediaType: string): ReadError {
  if (mediaType === 'application/x-ole-encrypted') {
    return new ReadError('encrypted', `${filename} is protected by a password`)
  }
  if (mediaType === 'application/octet-stream' || mediaType === 'application/x-ole-storage') {
    if (RECOGNISED_BY_BYTES.has(getFileEnding(filename))) {
      return new ReadError(
        'malformed',
        `${filename} does not match its name: its content is not a ${getFileEnding(filename)} file`,
      )
    }
    const description =
      mediaType === 'application/octet-stream'
        ? 'neither text nor of a known type, so it cannot be read'
        : 'a compound file of an unknown program'
    return new ReadError('unsupported-type', `${filename} is ${description}`, { mediaType })
  }
  const archive = UNSUPPORTED_ARCHIVES[mediaType]
  if (archive !== undefined)
    return new ReadError(
      'unsupported-type',
      `${filename} is ${archive}, which is not supported: pack it as ZIP or TAR.GZ`,
    )
  if (mediaType === 'image/heic' || mediaType === 'image/avif') {
    const name = mediaType === 'image/heic' ? 'HEIC' : 'AVIF'
    const message = `${filename} is a picture in the format ${name}, which is not supported: convert it to JPEG or PNG`
    return new ReadError('unsupported-type', message, { mediaType })
  }
  if (isRecording(mediaType)) {
    const kind = mediaType.startsWith('audio/') ? 'a sound file' : 'a video'
    const message = `${filename} is ${kind} (${mediaType}): reading it needs a transcription model, \`defaultTranscription\` in the configuration of the daemon`
    return new ReadError('unsupported-type', message, { mediaType })
  }
  const kind = KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? 'a file'
  return new ReadError('unsupported-type', `${filename} is ${kind} (${mediaType}), which cannot be read yet`, {
    mediaType,
  })
}
