import { ReadError } from './limits.js'
import { isRecording } from './recording.js'
import { endingOf } from './sniff.js'

/** What a type is in words; the first that fits. */
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

/** How recordings become readable. */
const LISTEN =
  '`ks config set defaultTranscription PLUGIN/PROVIDER/MODEL --daemon` sets one, `ks daemon restart` makes it known, `ks docs reindex` reads what is there'

/** Archives that are not opened, by the names that people know them by. */
const CLOSED_ARCHIVES: Readonly<Record<string, string>> = {
  'application/x-7z-compressed': 'a 7-Zip archive',
  'application/vnd.rar': 'a RAR archive',
  'application/x-bzip2': 'packed by bzip2',
  'application/x-xz': 'packed by xz',
  'application/zstd': 'packed by zstd',
}

/** Endings of formats that are read, and whose files are recognised by their first bytes. */
const RECOGNISED_BY_BYTES = new Set([
  'pdf',
  'docx',
  'dotx',
  'xlsx',
  'xls',
  'pptx',
  'odt',
  'odp',
  'ods',
  'epub',
  'rtf',
  'msg',
  'doc',
  'dot',
  'ppt',
  'pps',
  'xlsb',
  'odg',
  'vsdx',
  'vsd',
  'pub',
  'zip',
  'tar',
  'gz',
  'tgz',
  'png',
  'jpg',
  'jpeg',
  'gif',
  'bmp',
  'webp',
  'tif',
  'tiff',
])

/** The error for a type without a parser: one sentence that says what the file is. */
export function unsupported(filename: string, mediaType: string): ReadError {
  if (mediaType === 'application/x-ole-encrypted') {
    return new ReadError('encrypted', `${filename} is protected by a password`)
  }
  if (mediaType === 'application/octet-stream' || mediaType === 'application/x-ole-storage') {
    if (RECOGNISED_BY_BYTES.has(endingOf(filename))) {
      return new ReadError(
        'malformed',
        `${filename} is not what its name says: its bytes are no ${endingOf(filename)} file`,
      )
    }
    const what =
      mediaType === 'application/octet-stream'
        ? 'neither text nor of a known type, so it cannot be read'
        : 'a compound file of a program that is not known'
    return new ReadError('unsupported-type', `${filename} is ${what}`, { mediaType })
  }
  const archive = CLOSED_ARCHIVES[mediaType]
  if (archive !== undefined)
    return new ReadError('unsupported-type', `${filename} is ${archive}, which is not opened: pack it as ZIP or TAR.GZ`)
  if (mediaType === 'image/heic' || mediaType === 'image/avif') {
    const name = mediaType === 'image/heic' ? 'HEIC' : 'AVIF'
    const message = `${filename} is a picture in the format ${name}, for which there is no decoder here: convert it to JPEG or PNG`
    return new ReadError('unsupported-type', message, { mediaType })
  }
  if (isRecording(mediaType)) {
    const what = mediaType.startsWith('audio/') ? 'a sound file' : 'a video'
    const message = `${filename} is ${what} (${mediaType}), of which a transcription model reads what is said, and none is set: ${LISTEN}`
    return new ReadError('unsupported-type', message, { mediaType })
  }
  const kind = KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? 'a file'
  return new ReadError('unsupported-type', `${filename} is ${kind} (${mediaType}), which cannot be read yet`, {
    mediaType,
  })
}
