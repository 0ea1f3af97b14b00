import { type DragEvent, useRef, useState } from 'react'
import { Button, classes } from '../../../ui/button.js'
import { plural } from '../../../ui/format.js'
import { Icon } from '../../../ui/icon.js'
import { showError, showToast } from '../../../ui/toast.js'
import { type FileSelection, readDrop, readFileInput } from './file-selection.js'

/** Drop zone for files and folders, with buttons to select them. */
export function DropZone({ onFiles }: { onFiles: (files: FileSelection['files']) => void }) {
  const [isOver, setOver] = useState(false)
  const fileInput = useRef<HTMLInputElement>(null)
  const folderInput = useRef<HTMLInputElement>(null)

  const addSelection = ({ files, hiddenCount }: FileSelection) => {
    if (hiddenCount > 0) showToast(`${plural(hiddenCount, 'hidden file')} skipped.`, 'neutral')
    if (files.length === 0) showToast('No files found.', 'warn')
    else onFiles(files)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    // the card that contains the drop zone handles drops, too
    event.stopPropagation()
    setOver(false)
    readDrop(event.dataTransfer).then(addSelection, showError)
  }
  const addInput = (input: HTMLInputElement) => {
    if (input.files !== null && input.files.length > 0) addSelection(readFileInput(input.files))
    input.value = ''
  }
  return (
    <section
      className={classes('drop', isOver && 'is-over')}
      aria-label="Add documents"
      onDragOver={(event) => {
        event.preventDefault()
        event.stopPropagation()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={24} />
      <p className="drop-text">Drop a folder or files here</p>
      <div className="row">
        <Button small icon="folder" onClick={() => folderInput.current?.click()}>
          Choose a folder
        </Button>
        <Button small icon="file" onClick={() => fileInput.current?.click()}>
          Choose files
        </Button>
      </div>
      <input
        ref={fileInput}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => addInput(event.currentTarget)}
      />
      <input
        ref={folderInput}
        type="file"
        hidden
        aria-label="Folder"
        {...{ webkitdirectory: '' }}
        onChange={(event) => addInput(event.currentTarget)}
      />
    </section>
  )
}
