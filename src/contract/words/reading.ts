/** Descriptions of fields about the reading of files. */
export const READING_DESCRIPTIONS: Readonly<Record<string, string>> = {
  progress: 'progress of reading the file',
  pictures: 'state of the picture descriptions; as a task: the description of pictures',
  described: 'number of pictures with a description',
}
