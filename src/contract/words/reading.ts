/** Descriptions of fields about the reading of files. */
export const READING_DESCRIPTIONS: Readonly<Record<string, string>> = {
  progress: 'progress of reading the file; absent unless this daemon is reading it',
  described: 'number of pictures with a description by the model',
}
