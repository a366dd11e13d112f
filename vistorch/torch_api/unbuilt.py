"""The names of PyTorch that are not built, and why: one table, and what is made from a row of it.

A Python literal, because it needs no parser at run time (Python 3.10 has none for TOML) and is compiled once.

Invariant: importing such a name is allowed; using it raises NotImplementedError with one sentence that says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any, NamedTuple

from vistorch.engine.base.errors import not_built
from vistorch.engine.library_name import named

from . import private_names as private
from . import rare_modules
from . import rare_names as rare


class Row(NamedTuple):
    """Names of one module that are not built for one reason."""

    module: str
    why: str
    functions: str = ""
    classes: str = ""


# Modules that have nothing but rows of this table and answers: made from them when they are first imported.
MODULES = {
    "ao": "Quantization and sparsity under PyTorch's name.",
    "ao.quantization": "Quantization: named, not built.",
    "export": "Ahead-of-time export: named, not built.",
    "fx": "Graphs of modules as programs: named, not built.",
    "mps": "Apple's GPUs: there are none here.",
    "mtia": "Meta's accelerators: there are none here.",
    "nested": "Nested tensors: named, not built.",
    "onnx": "Export to ONNX: named, not built.",
    "quantization": "PyTorch's older name of `ao.quantization`.",
    "sparse": "Sparse tensors: named, not built.",
    "utils.model_zoo": "PyTorch's older name of `hub.load_state_dict_from_url`; vistorch fetches nothing.",
    "vision.models.detection": "Networks that find objects: named, not built.",
    "vision.models.feature_extraction": "Features from inside a network, by a graph of it: named, not built.",
    "vision.models.optical_flow": "Networks that follow movement: named, not built.",
    "vision.models.quantization": "Quantized networks for pictures: named, not built.",
    "vision.models.segmentation": "Networks that class each pixel: named, not built.",
    "vision.models.video": "Networks for videos: named, not built.",
    "xpu": "Intel's GPUs: there are none here.",
}
# With those that libraries reach for though they are not documented: found, and not listed.
OPENED = {**MODULES, **private.MODULES}
# With those that programs hardly use, which nothing opens before they are asked for.
MADE = {**rare_modules.docs(), **OPENED}
# Modules that offer the names of another one.
SAME = {"quantization": "ao.quantization"}

_DENSE = "vistorch's tensors are dense."
_DEVICES = "vistorch has CPU and CUDA devices."
_NETWORK = "vistorch fetches nothing from the network; load a file that is there with vistorch.load."
_PLAIN = "vistorch has no quantized tensors; train and run in float32, float16 or bfloat16."

ROWS = (
    Row(
        "",
        _DENSE,
        """dsmm hsmm hspmm resize_as_sparse_ saddmm smm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor
        sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor spmm sspaddmm""",
    ),
    Row(
        "",
        _PLAIN,
        """choose_qparams_optimized empty_quantized fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
        fused_moving_avg_obs_fake_quant int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points
        q_scale q_zero_point quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm
        quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d
        quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell""",
    ),
    Row(
        "",
        "vistorch has no compiler and no TorchScript; write it in plain Python.",
        "cond while_loop import_ir_module import_ir_module_from_buffer parse_ir parse_schema",
    ),
    Row(
        "",
        "`vistorch.load` and `vistorch.save` read and write these files.",
        classes="PyTorchFileReader PyTorchFileWriter",
    ),
    Row("", "every size is a number here.", classes="SymBool SymFloat SymInt"),
    Row("", "use linalg.eigh, and take the first or last of what it gives.", "lobpcg"),
    Row("", "use scatter_reduce, with the number of each element's segment.", "segment_reduce"),
    Row(
        "ao.quantization",
        "train and run in float32, float16 or bfloat16.",
        """quantize quantize_dynamic quantize_qat prepare convert prepare_qat quantize_jit quantize_dynamic_jit
        fuse_modules fuse_modules_qat get_default_qconfig get_default_qat_qconfig get_default_qconfig_mapping
        get_default_qat_qconfig_mapping propagate_qconfig_ add_quant_dequant swap_module default_eval_fn""",
        """QuantWrapper QuantStub DeQuantStub QuantType ObserverBase HistogramObserver MinMaxObserver
        MovingAverageMinMaxObserver FakeQuantize QConfig QConfigMapping""",
    ),
    Row(
        "autograd.profiler",
        "vistorch.profiler measures nothing; use `cProfile`.",
        classes="EventList FunctionEvent",
    ),
    Row(
        "compiler",
        "vistorch has no compiler and keeps no compiled code.",
        "save_cache_artifacts load_cache_artifacts keep_portable_guards_unsafe",
    ),
    Row(
        "export",
        "vistorch does not trace modules; save the state_dict.",
        "default_decompositions dims draft_export export load register_dataclass save unflatten",
        """AdditionalInputs Constraint CustomDecompTable Dim ExportBackwardSignature ExportedProgram
        ExportGraphSignature FlatArgsAdapter ModuleCallEntry ModuleCallSignature ShapesCollection UnflattenedModule""",
    ),
    Row(
        "fx",
        "vistorch does not trace modules; look at `named_modules()` and at forward hooks.",
        "symbolic_trace replace_pattern has_side_effect map_arg",
        "Tracer Graph GraphModule Interpreter Transformer Node Proxy",
    ),
    Row("hub", _NETWORK, "download_url_to_file help list load load_state_dict_from_url"),
    Row(
        "jit",
        "vistorch has no TorchScript; save the state_dict.",
        "save load export_opnames",
        "CompilationUnit ScriptFunction ScriptModule Attribute Future",
    ),
    Row(
        "library",
        "vistorch has no dispatcher; write a `custom_op` with its kernels and its backward.",
        """fallthrough_kernel register_torch_dispatch register_vmap get_ctx get_kernel triton_op wrap_triton opcheck""",
    ),
    Row(
        "masked",
        "give the mask to the function, as in `masked.sum(x, mask=mask)`.",
        "as_masked_tensor masked_tensor",
        "MaskedTensor",
    ),
    Row(
        "mps",
        _DEVICES,
        """compile_shader current_allocated_memory driver_allocated_memory empty_cache get_rng_state manual_seed
        recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize""",
        "Event",
    ),
    Row(
        "nested",
        "pad to one length (`nn.utils.rnn.pad_sequence`).",
        "to_padded_tensor as_nested_tensor nested_tensor nested_tensor_from_jagged narrow masked_select",
    ),
    Row(
        "onnx",
        "save the state_dict, load it in PyTorch and export it there.",
        "export",
        "OnnxExporterError ONNXProgram ExportableModule InputObserver OperatorExportTypes TrainingMode",
    ),
    Row(
        "overrides",
        "they list what PyTorch has in C++; ask `vistorch.__all__` or `dir(vistorch.Tensor)`.",
        """get_ignored_functions get_overridable_functions get_testing_overrides resolve_name enable_reentrant_dispatch
        redispatch_function""",
    ),
    Row(
        "sparse",
        "vistorch's tensors are dense; `to_dense()` in PyTorch first.",
        "addmm mm sum softmax solve log_softmax to_sparse_semi_structured as_sparse_gradcheck",
        """BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
        check_sparse_tensor_invariants SparseSemiStructuredTensor SparseSemiStructuredTensorCUTLASS
        SparseSemiStructuredTensorCUSPARSELT""",
    ),
    Row("utils.model_zoo", _NETWORK, "load_url"),
    Row(
        "vision.datasets",
        "extract it, one folder for each class, and read that by ImageFolder.",
        classes="""Caltech101 Caltech256 DTD EuroSAT FER2013 FGVCAircraft Flowers102 Food101 GTSRB ImageNet Imagenette
        INaturalist OxfordIIITPet Places365 RenderedSST2 StanfordCars SUN397 Country211""",
    ),
    Row(
        "vision.datasets",
        "read its files by a Dataset of your own.",
        classes="""CLEVRClassification CREStereo CarlaStereo CelebA Cityscapes CocoCaptions CocoDetection ETH3DStereo
        EMNIST FallingThingsStereo Flickr30k Flickr8k FlyingChairs FlyingThings3D HD1K HMDB51 InStereo2k Kinetics Kitti
        KittiFlow Kitti2012Stereo Kitti2015Stereo LFWPairs LFWPeople LSUN LSUNClass Middlebury2014Stereo MovingMNIST
        Omniglot PCAM PhotoTour QMNIST SBDataset SBU SceneFlowStereo SEMEION Sintel SintelStereo STL10 SVHN UCF101 USPS
        VOCDetection VOCSegmentation WIDERFace""",
    ),
    Row(
        "vision.models.detection",
        "put one together from vistorch.vision.ops (MultiScaleRoIAlign, FeaturePyramidNetwork, nms).",
        """fasterrcnn_mobilenet_v3_large_320_fpn fasterrcnn_mobilenet_v3_large_fpn fasterrcnn_resnet50_fpn
        fasterrcnn_resnet50_fpn_v2 fcos_resnet50_fpn keypointrcnn_resnet50_fpn maskrcnn_resnet50_fpn
        maskrcnn_resnet50_fpn_v2 retinanet_resnet50_fpn retinanet_resnet50_fpn_v2 ssd300_vgg16
        ssdlite320_mobilenet_v3_large""",
        "FCOS FasterRCNN KeypointRCNN MaskRCNN RetinaNet SSD",
    ),
    Row(
        "vision.models.feature_extraction",
        "keep the outputs of modules by module.register_forward_hook.",
        "create_feature_extractor get_graph_node_names",
    ),
    Row("vision.models.optical_flow", "write it with vistorch.nn.", "raft_large raft_small", "RAFT"),
    Row(
        "vision.models.quantization",
        _PLAIN,
        """googlenet inception_v3 mobilenet_v2 mobilenet_v3_large resnet18 resnet50 resnext101_32x8d resnext101_64x4d
        shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0""",
        "QuantizableGoogLeNet QuantizableInception3 QuantizableMobileNetV2 QuantizableMobileNetV3 QuantizableResNet",
    ),
    Row(
        "vision.models.segmentation",
        "put a head of your own on a resnet50(replace_stride_with_dilation=[False, True, True]).",
        """deeplabv3_mobilenet_v3_large deeplabv3_resnet101 deeplabv3_resnet50 fcn_resnet101 fcn_resnet50
        lraspp_mobilenet_v3_large""",
        "DeepLabV3 FCN LRASPP",
    ),
    Row(
        "vision.models.video",
        "write it with vistorch.nn (Conv3d, vistorch.vision.ops.Conv3dNormActivation).",
        "mc3_18 mvit_v1_b mvit_v2_s r2plus1d_18 r3d_18 s3d swin3d_b swin3d_s swin3d_t",
        "MViT S3D SwinTransformer3d VideoResNet",
    ),
    Row(
        "vision.transforms",
        "use RandomApply, RandomChoice and RandomOrder of the transforms that are there.",
        classes="AugMix AutoAugment AutoAugmentPolicy ElasticTransform RandAugment TrivialAugmentWide",
    ),
    Row(
        "xpu",
        _DEVICES,
        """current_device current_stream device empty_cache get_device_capability get_device_name
        get_device_properties get_rng_state get_rng_state_all init is_current_stream_capturing manual_seed
        manual_seed_all max_memory_allocated mem_get_info memory_allocated memory_reserved reset_peak_memory_stats
        set_device set_rng_state set_rng_state_all stream synchronize""",
        "Event Stream",
    ),
    Row(
        "mtia",
        _DEVICES,
        "current_device current_stream empty_cache manual_seed manual_seed_all memory_allocated set_device synchronize",
        "Event Stream",
    ),
)


def wrap(fn_or_name: Any) -> Any:
    """Gives the function itself: nothing is traced.

    Example:
        >>> import vistorch
        >>> @vistorch.fx.wrap
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """
    return fn_or_name


# What a program asks before it decides is answered: a value for a function without arguments, or the function.
ANSWERS: dict[str, dict[str, Any]] = {
    "fx": {"wrap": wrap},
    "mps": {"is_available": False, "device_count": 0},
    "onnx": {"is_in_onnx_export": False},
    "mtia": {"is_available": False, "is_initialized": False, "device_count": 0},
    "xpu": {"is_available": False, "is_initialized": False, "is_bf16_supported": False, "device_count": 0},
}


@cache
def names(module: str) -> dict[str, Any]:
    """Return what the table has of a module: functions and classes that refuse, answers, and what is elsewhere.

    Args:
        module: its name without `vistorch.`; empty for `vistorch` itself.
    """
    made = dict(_made(module))
    for name, where in _elsewhere(module).items():
        made[name] = private.found(where)
    if module in private.OPTIONS:
        made.update(private.OPTIONS[module], patch=_patch)
    return made


def find(module: str, name: str) -> Any:
    """Return one thing that the table has of a module, and load no other; `ABSENT` if it has none of that name.

    Args:
        module: as in `names`.
        name: the name asked for.
    """
    if (where := _elsewhere(module).get(name)) is not None:
        return private.found(where)
    return _made(module).get(name, ABSENT)


ABSENT = object()


def listed() -> list[str]:
    """The documented names of `vistorch` itself that are not built: `dir` shows them, and not those of `rare_names`."""
    rows = [row for row in ROWS if not row.module]
    return [name for row in rows for name in f"{row.functions} {row.classes}".split()]


@cache
def _elsewhere(module: str) -> dict[str, str]:
    """Where the names of a module are that have a thing of ours."""
    return {
        **private.SAME.get(module, {}),
        **private.VALUES.get(module, {}),
        **rare.held(rare.VALUES, module),
        **rare_modules.contents(module).same,
    }


@cache
def _made(module: str) -> dict[str, Any]:
    """What is made from the rows of a module alone."""
    path = f"vistorch.{module}" if module else "vistorch"
    made: dict[str, Any] = {}
    public = [row[1:] for row in ROWS if row.module == module]
    hidden = [row[1:] for row in private.ROWS if row[0] == module]
    inner = rare_modules.contents(module)
    written = [(rare_modules.why(module), " ".join(inner.functions), " ".join(inner.classes))]
    for why, functions, classes in written + public + hidden + rare.rows(module):
        made.update({name: _function(path, name, why) for name in functions.split()})
        made.update({name: _class(path, name, why) for name in classes.split()})
    made.update(inner.values)
    for name in rare_modules.NO.intersection(inner.functions):
        made[name] = _named(_always(False), path, name)
    for name, value in ANSWERS.get(module, {}).items():
        made[name] = _named(value if callable(value) else _answer(path, name, value), path, name)
    for name, value in private.ANSWERS.get(module, {}).items():
        made[name] = _named(_always(value), path, name)
    for name, value in rare.held(rare.ANSWERS, module).items():
        made[name] = _named(_answer(path, name, value), path, name)
    for name in private.NOTHING.get(module, "").split():
        made[name] = _named(_always(None), path, name)
    for name in private.AS_IT_IS.get(module, "").split():
        made[name] = _named(_as_it_is(), path, name)
    for name in private.BLOCKS.get(module, "").split():
        made[name] = type(name, (nullcontext,), {"__module__": path, "__doc__": "Changes nothing."})
    for name in private.ERRORS.get(module, "").split():
        made[name] = type(name, (RuntimeError,), {"__module__": path, "__doc__": "Never raised here."})
    return made


def _always(value: Any) -> Callable:
    def call(*args: Any, **kwargs: Any) -> Any:
        """Gives the same, whatever is asked."""
        return value

    return call


def _as_it_is() -> Callable:
    def decorate(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Gives the function itself; with or without brackets."""
        return fn if callable(fn) else (lambda fn: fn)

    return decorate


@contextmanager
def _patch(*args: Any, **kwargs: Any) -> Iterator[None]:
    """Options of a compiler for a while: nothing reads them."""
    yield


_DOC = """Not built: {why}

Example:
    >>> import {owner}
    >>> {owner}.{name}()
    Traceback (most recent call last):
        ...
    NotImplementedError: {owner}.{name} is not built: {why}
"""
_ANSWER = """{value}.

Example:
    >>> import {owner}
    >>> {owner}.{name}()
    {value}
"""


def _function(owner: str, name: str, why: str) -> Callable:
    def call(*args: Any, **kwargs: Any) -> Any:
        raise not_built(f"{owner}.{name}", why)

    call.__doc__ = _DOC.format(owner=owner, name=name, why=why)
    call._is_unbuilt = True  # type: ignore[attr-defined]
    return _named(call, owner, name)


def _class(owner: str, name: str, why: str) -> type:
    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        raise not_built(f"{owner}.{name}", why)

    doc = _DOC.format(owner=owner, name=name, why=why)
    members = {
        "__init__": start,
        "__module__": owner,
        "__doc__": doc,
        "_why": f"{owner}.{name} is not built: {why}",
        "_is_unbuilt": True,
    }
    return _Unbuilt(name, (), members)


class _Lacking(AttributeError, NotImplementedError):
    """A member of a class that is not built: hasattr says no, and use gets the sentence."""


class _Unbuilt(type):
    """The class of classes that refuse: also what is asked of the class itself, such as a member of an enum."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _Lacking(named(cls._why))


def _answer(owner: str, name: str, value: Any) -> Callable:
    def call() -> Any:
        return value

    call.__doc__ = _ANSWER.format(owner=owner, name=name, value=value)
    call.__annotations__["return"] = type(value)
    return call


def _named(function: Callable, owner: str, name: str) -> Callable:
    """Let a function say that it is of a module."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = owner
    return function
