import { type ReactNode, useState } from 'react'
import type { LoadedPicture } from '../ui/picture.js'

interface RenderedSheetProps {
  picture: LoadedPicture
  /** alternative text of the picture */
  alt: string
  /** text while the picture loads */
  loadingText: string
  /** aspect ratio in CSS syntax, used until the picture has loaded */
  initialRatio: string
  /** overlay on the loaded picture */
  children: ReactNode
}

/** A page or picture that the daemon rendered, in a frame of its aspect ratio. */
export function RenderedSheet({ picture, alt, loadingText, initialRatio, children }: RenderedSheetProps) {
  const [ratio, setRatio] = useState<number>()
  return (
    <div className="page-sheet" style={{ aspectRatio: ratio ?? initialRatio }}>
      {picture.url === undefined ? (
        <span className="faint small page-loading">{picture.error ?? loadingText}</span>
      ) : (
        <>
          <img
            className="page-picture"
            src={picture.url}
            alt={alt}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setRatio(naturalWidth / naturalHeight)}
          />
          {children}
        </>
      )}
    </div>
  )
}
