// What part of the picture is in view: zoom and the top left corner, in units of cells. Plain numbers, no page.

import type { Fit } from "./mosaic";

export interface Camera {
  zoom: number;
  x: number;
  y: number;
}

export interface Box {
  width: number;
  height: number;
}

export const start = (): Camera => ({ zoom: 1, x: 0, y: 0 });

/** Pixels per cell in a direction; each direction stops growing where a cell holds a number. */
export const scaleX = (fit: Fit, zoom: number): number => Math.max(fit.sx, Math.min(fit.sx * zoom, fit.maxX));
export const scaleY = (fit: Fit, zoom: number): number => Math.max(fit.sy, Math.min(fit.sy * zoom, fit.maxY));

export const most = (fit: Fit): number => Math.max(1, fit.maxX / fit.sx, fit.maxY / fit.sy);

/** Keep the picture in its box. */
export function held(camera: Camera, fit: Fit, box: Box): Camera {
  const zoom = Math.max(1, Math.min(camera.zoom, most(fit)));
  const edge = (at: number, length: number, space: number): number => Math.max(0, Math.min(at, length - space));
  return {
    zoom,
    x: edge(camera.x, fit.mosaic.x.length, box.width / scaleX(fit, zoom)),
    y: edge(camera.y, fit.mosaic.y.length, box.height / scaleY(fit, zoom)),
  };
}

/** Zoom by a factor; what is under the point stays under it. */
export function zoomed(camera: Camera, fit: Fit, box: Box, factor: number, px: number, py: number): Camera {
  const zoom = Math.max(1, Math.min(camera.zoom * factor, most(fit)));
  return held(
    {
      zoom,
      x: camera.x + px / scaleX(fit, camera.zoom) - px / scaleX(fit, zoom),
      y: camera.y + py / scaleY(fit, camera.zoom) - py / scaleY(fit, zoom),
    },
    fit,
    box,
  );
}

/** Move the view until a cell lies in it, with a little air around it. */
export function revealed(camera: Camera, fit: Fit, box: Box, x: number, y: number): Camera {
  const along = (at: number, space: number, place: number): number => {
    const air = Math.min(1, space / 4);
    if (place < at + air) return place - air;
    if (place + 1 > at + space - air) return place + 1 - space + air;
    return at;
  };
  return held(
    {
      zoom: camera.zoom,
      x: along(camera.x, box.width / scaleX(fit, camera.zoom), x),
      y: along(camera.y, box.height / scaleY(fit, camera.zoom), y),
    },
    fit,
    box,
  );
}
