"""A display of the landmarks that an estimator chose."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import ceil, sqrt
from typing import Any, Self

import numpy as np

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import Display, add_colorbar, add_legend, check_choice
from .landmark_data import (
    as_images,
    check_feature_axis,
    dense_landmarks,
    draw_spectra,
    landmark_labels,
    plane_coordinates,
    spread_rows,
    with_landmarks,
)
from .points import are_numbers, check_labels, draw_numbers, draw_rows

_PLANES = ("inputs", "features", "gallery", "spectra")
_MARKER_AREA = 55.0  # square points
_DOT_AREA = 22.0  # square points, of landmarks between images
_LABEL_EDGE = 4.0  # points by which a number in the corner of an image stands out
_THUMBNAIL = 26.0  # points, the longer side of an image in a plane
_CELL = 0.7  # inches of a thumbnail in a gallery
_GAP = 0.12  # between thumbnails, as a share of their width
_CAPTION = 0.3  # room for a number above each, as a share of their width


@dataclass(eq=False, repr=False)
class LandmarkDisplay(Display):
    """The landmarks in the order of choice: in a plane, as images, or as spectra.

    Make it by :meth:`from_estimator`. In a plane darker points were chosen earlier, and as many of them
    are numbered as there is room for.

    Parameters
    ----------
    positions : ndarray of shape (m, 2), default=None
        Places of the landmarks in the plane, in the order of choice; None for a gallery.
    images : ndarray of shape (m, height, width) or (m, height, width, 3), default=None
        The landmarks as images.
    rows : ndarray of shape (n, 2), default=None
        Places of other samples, drawn in grey.
    row_labels : ndarray of shape (n,), default=None
        Their classes.
    landmark_labels : ndarray of shape (m,), default=None
        Classes of the landmarks, written beside the numbers in a gallery.
    names : tuple of two str, default=("", "")
        Names of the two axes of the plane.
    spectra : ndarray of shape (m, d), default=None
        The landmarks as lines over ``feature_axis``; ``rows`` are then other samples, of shape (n, d).
    feature_axis : ndarray of shape (d,), default=None
        Wavelengths, or other places of the features.

    Attributes
    ----------
    {axes}
    line_ : PathCollection, LineCollection or None
        The landmarks as points, or as spectra, the last one first; None in a gallery.
    images_ : list
        The images, in the order of choice.
    rows_ : list of PathCollection
        The other samples, a collection for each class.
    numbers_ : list of Text
        The numbers that are written.

    Examples
    --------
    >>> from kernelsieve import AcceleratedKernelFeatureAnalysis
    >>> from kernelsieve.datasets import make_noisy_circle
    >>> from kernelsieve.displays import LandmarkDisplay
    >>> X = make_noisy_circle(200, random_state=0)
    >>> analysis = AcceleratedKernelFeatureAnalysis(8, gamma=2.0).fit(X)
    >>> display = LandmarkDisplay.from_estimator(analysis, X)
    >>> len(display.line_.get_offsets())
    8
    """

    positions: np.ndarray | None = None
    _: KW_ONLY
    images: np.ndarray | None = None
    rows: np.ndarray | None = None
    row_labels: np.ndarray | None = None
    landmark_labels: np.ndarray | None = None
    names: tuple[str, str] = ("", "")
    spectra: np.ndarray | None = None
    feature_axis: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        plane: str | None = None,
        axes: tuple[int, int] = (0, 1),
        n_landmarks: int | None = None,
        image_shape: tuple[int, ...] | None = None,
        feature_axis: Any = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the landmarks of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted one with ``landmarks_``, or a pipeline or search with one, whose landmarks and
            samples are drawn as it sees them.
        X : array-like or CSR matrix of shape (n, d), default=None
            Samples to draw in grey behind the landmarks.
        y : array-like of shape (n,), default=None
            Their labels: a marker for each class. In a gallery the landmarks' own labels are written,
            where X are the training samples. Targets that are no labels are not shown.
        plane : {"inputs", "features", "gallery", "spectra"}, default=None
            Draw in the plane of two features of X, in the plane of two components, images side by
            side, or spectra above one another. None is "gallery" where ``image_shape`` is given,
            "spectra" where ``feature_axis`` is, and "inputs" where neither is.
        axes : tuple of two int, default=(0, 1)
            Two features of X, or two components.
        n_landmarks : int, default=None
            Draw the first ones only; None for all.
        image_shape : tuple of int, default=None
            Height and width of the images that the samples are, and 3 for coloured ones. In a plane the
            images then cover their points, save those that would cover an image chosen before. The
            place in the order stands in a corner of each.
        feature_axis : array-like of shape (d,), default=None
            Wavelengths, times or other places of the features, where samples are curves over them. The
            name of a pandas index or series is written below the axis, "wavelength" without one.
        {drawing}
        """
        estimator, X = with_landmarks(estimator, X)
        landmarks = dense_landmarks(estimator, n_landmarks)
        images = as_images(landmarks, image_shape)
        chosen_plane = plane or _usual_plane(image_shape, feature_axis)
        check_choice("plane", chosen_plane, _PLANES)
        _check_curves(chosen_plane, feature_axis)
        if chosen_plane == "spectra":
            places, axis_name = check_feature_axis(feature_axis, landmarks.shape[1])
            rows = spread_rows(X, landmarks.shape[1])
            display = cls(spectra=landmarks, feature_axis=places, rows=rows, names=(axis_name, "value"))
            return display.plot(ax, **plot_options)
        labels = None if X is None or are_numbers(y) else check_labels(y, np.shape(X)[0])
        display = cls(images=images, landmark_labels=landmark_labels(estimator, landmarks, X, labels))
        if chosen_plane == "gallery":
            if images is None:
                raise InvalidParameterError(
                    "plane='gallery' shows images; pass image_shape=(height, width)."
                )
        else:
            display.positions, display.rows, display.names = plane_coordinates(
                estimator, len(landmarks), X, chosen_plane, axes
            )
            display.row_labels = labels
        return display.plot(ax, **plot_options)

    def plot(self, ax: Any = None, *, numbers: bool = True, **options: Any) -> Self:
        """Draw the landmarks.

        Parameters
        ----------
        {ax}
        numbers : bool, default=True
            Write numbers in the order of choice.
        **options
            For matplotlib's ``scatter`` of the landmarks, for ``imshow`` of their images, where
            ``cmap="gray_r"`` shows ink on paper, or for the ``LineCollection`` of spectra.

        {display}
        """
        if self.positions is None and self.images is None and self.spectra is None:
            raise InvalidDataError("There is nothing to draw; pass positions, images or spectra.")
        gallery = self.positions is None and self.spectra is None
        self._take_panels(ax, size=_gallery_size(self.images) if gallery else None)
        self.line_: Any = None
        self.images_: list[Any] = []
        self.rows_: list[Any] = []
        self.numbers_: list[Any] = []
        if gallery:
            self._draw_gallery(numbers, options)
        elif self.spectra is not None:
            self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
            axis = np.asarray(self.feature_axis)
            self.line_, self.rows_ = draw_spectra(self.ax_, axis, self.spectra, self.rows, options)
        else:
            self._draw_plane(numbers, options)
        return self

    # ------------------------------------------------------------------ a plane

    def _draw_plane(self, numbers: bool, options: dict[str, Any]) -> None:
        if self.rows is not None:
            self.rows_ = draw_rows(self.ax_, self.rows, self.row_labels)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        if self.images is not None:
            self._draw_images_in_plane(numbers, options)
            return
        self._draw_points(options)
        add_legend(self.ax_)
        if numbers:
            self.ax_.figure.figure.draw_without_rendering()  # so that places are final
            radius = sqrt(float(self.line_.get_sizes()[0])) / 2 + 0.5
            self.numbers_ = draw_numbers(self.ax_, np.asarray(self.positions), radius)

    def _draw_points(self, options: dict[str, Any]) -> None:
        positions = np.asarray(self.positions)
        look = {
            "s": _MARKER_AREA,
            "cmap": "cividis",
            "edgecolors": "black",
            "linewidths": 0.8,
            "zorder": 3,
            "label": "landmarks",
            **options,
        }
        if "c" not in look and "color" not in look:
            look["c"] = np.arange(1, len(positions) + 1)
        self.line_ = self.ax_.scatter(*positions.T, **look)
        if "c" not in options and "color" not in options and len(positions) > 1:
            bar = add_colorbar(self.ax_, self.line_, "order of choice")
            bar.ax.yaxis.get_major_locator().set_params(integer=True)

    def _draw_images_in_plane(self, numbers: bool, options: dict[str, Any]) -> None:
        """Draw images at the positions of the landmarks; of overlapping ones only the first chosen."""
        from matplotlib.offsetbox import AnnotationBbox, OffsetImage

        images, positions = np.asarray(self.images), np.asarray(self.positions)
        look = {**_grey_scale(images), "interpolation": "nearest", **options}
        self.line_ = self.ax_.scatter(
            *positions.T, s=_DOT_AREA, color="black", zorder=3, label="landmarks"
        )
        self.ax_.margins(0.1)
        add_legend(self.ax_)
        self.ax_.figure.figure.draw_without_rendering()  # so that places are final
        pixels = self.ax_.transData.transform(positions) * 72 / self.ax_.figure.dpi
        zoom = _THUMBNAIL / max(images.shape[1:3])
        shown = _spaced_out(pixels, _THUMBNAIL + 4)
        for place in shown:
            box = AnnotationBbox(
                OffsetImage(images[place], zoom=zoom, **look),
                positions[place],
                pad=0.1,
                bboxprops={"linewidth": 0.5},
            )
            box.set_zorder(4)
            self.images_.append(self.ax_.add_artist(box))
        if numbers:
            half = zoom * np.array([images.shape[2], images.shape[1]]) / 2
            self._number_images(shown, half, pixels)

    def _number_images(self, shown: list[int], half: np.ndarray, pixels: np.ndarray) -> None:
        """Write the rank of each landmark into its image, or beside its point if it has no image."""
        positions = np.asarray(self.positions)
        for place in shown:
            self.numbers_.append(
                self.ax_.annotate(
                    str(place + 1),
                    positions[place],
                    xytext=half * (-1, 1),
                    textcoords="offset points",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    zorder=6,
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0.4},
                )
            )
        edge = half + _LABEL_EDGE
        covered = [np.concatenate([pixels[place] - edge, pixels[place] + edge]) for place in shown]
        self.numbers_ += draw_numbers(self.ax_, positions, sqrt(_DOT_AREA) / 2, covered)

    # ------------------------------------------------------------------ a gallery

    def _draw_gallery(self, numbers: bool, options: dict[str, Any]) -> None:
        images = np.asarray(self.images)
        n_columns, n_lines, height = _gallery_shape(images)
        look = {**_grey_scale(images), "interpolation": "nearest", "aspect": "equal", **options}
        self.ax_.set_axis_off()
        order = "order of choice" if self.landmark_labels is None else "order of choice (place: class)"
        self.ax_.set_title(f"landmarks, in the {order}", fontsize="medium")
        for place, image in enumerate(images):
            line, column = divmod(place, n_columns)
            left, top = column * (1 + _GAP), line * (height + _CAPTION) + _CAPTION
            extent = (left, left + 1, top + height, top)
            self.images_.append(self.ax_.imshow(image, extent=extent, **look))
        self.ax_.set(  # last, for imshow sets the limits of its own image
            xlim=(-_GAP, n_columns * (1 + _GAP)), ylim=(n_lines * (height + _CAPTION) + _GAP, 0)
        )
        if numbers:
            self._write_captions(n_columns, height)

    def _write_captions(self, n_columns: int, height: float) -> None:
        """Write the rank of each image above it, and its class if known."""
        captions = [str(place + 1) for place in range(len(np.asarray(self.images)))]
        if self.landmark_labels is not None:
            captions = [
                f"{n}: {label}" for n, label in zip(captions, self.landmark_labels, strict=True)
            ]
        self.ax_.figure.figure.draw_without_rendering()  # so that the width of a cell is final
        cell = np.ptp(self.ax_.transData.transform([[0, 0], [1, 0]])[:, 0]) * 72 / self.ax_.figure.dpi
        size = min(8.0, 0.8 * _CAPTION * cell, cell / (0.62 * max(map(len, captions))))
        for place, caption in enumerate(captions):
            line, column = divmod(place, n_columns)
            middle = column * (1 + _GAP) + 0.5
            bottom = line * (height + _CAPTION) + _CAPTION - 0.04
            self.numbers_.append(
                self.ax_.text(middle, bottom, caption, ha="center", va="bottom", fontsize=size)
            )


def _usual_plane(image_shape: Any, feature_axis: Any) -> str:
    if feature_axis is not None:
        return "spectra"
    return "inputs" if image_shape is None else "gallery"


def _check_curves(plane: str, feature_axis: Any) -> None:
    """Raise an error if only one of ``plane="spectra"`` and ``feature_axis`` is given."""
    if plane == "spectra" and feature_axis is None:
        raise InvalidParameterError(
            "plane='spectra' draws curves over the features of X; pass their places, such as "
            "wavelengths, as feature_axis."
        )
    if plane != "spectra" and feature_axis is not None:
        raise InvalidParameterError(
            f"plane={plane!r} has no axis of features; pass plane='spectra', or no feature_axis."
        )


def _spaced_out(places: np.ndarray, distance: float) -> list[int]:
    """Return the points that are farther than a distance from all points selected before them."""
    kept: list[int] = []
    for place, point in enumerate(places):
        if all(np.abs(point - places[other]).max() > distance for other in kept):
            kept.append(place)
    return kept


def _gallery_shape(images: np.ndarray) -> tuple[int, int, float]:
    """Return the numbers of columns and rows of the gallery, and the height of a thumbnail."""
    n_columns = min(len(images), ceil(sqrt(1.8 * len(images))))
    return n_columns, ceil(len(images) / n_columns), images.shape[1] / images.shape[2]


def _gallery_size(images: Any) -> tuple[float, float]:
    n_columns, n_lines, height = _gallery_shape(np.asarray(images))
    width = _CELL * n_columns * (1 + _GAP)
    return max(width, 3.2), _CELL * n_lines * (height + _CAPTION) + 0.5


def _grey_scale(images: np.ndarray) -> dict[str, Any]:
    """Return one grey scale for all images; colour images need none."""
    if images.ndim == 4:
        return {}
    from matplotlib.colors import Normalize

    return {"cmap": "gray", "norm": Normalize(images.min(), images.max())}
