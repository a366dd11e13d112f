"""The differentiable arguments of PyTorch's functions, by the name of the node that each makes.

A node of C++ does not say which argument each of its gradients belongs to: they are in the order of these names, which
are those of PyTorch's schemas. An argument with a star is a list of tensors, with as many gradients as it has members.
Nodes are written without "Backward0"; a number behind the name stands for another one than 0.

Invariant: a name stands once.
"""

from __future__ import annotations

_TABLE = {
    "self": """
        Abs Acos Acosh Acosh~1 AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool2D AdaptiveMaxPool3D Add~1
        Alias Amax Amin Aminmax Angle AsStrided AsStrided~1 Asin Asinh Asinh~1 Atan Atanh Atanh~1 AvgPool2D
        AvgPool3D Bernoulli Bernoulli~2 Cauchy Ceil Celu Celu~1 ChannelShuffle Cholesky CholeskyInverse Chunk
        ClampMax ClampMin Clamp~1 Clone Coalesce Col2Im Conj ConjPhysical ConjPhysical~1 ConstantPadNd
        Copysign~1 Cos Cosh Cummax Cummin Cumprod Cumsum Deg2Rad DiagEmbed Diagonal Digamma Div~1 Div~3 Elu
        Elu~1 EmbeddingRenorm Eq Erf Erfc Erfinv Exp Exp2 Expand Expm1 Exponential
        FakeQuantizePerChannelAffineCachemask FakeQuantizePerTensorAffineCachemask
        FakeQuantizePerTensorAffineCachemaskTensorQparams FftC2C FftC2R FftR2C Fill Fill~2 Flip Floor Fmod Frac
        FractionalMaxPool2D FractionalMaxPool3D Frexp FusedDropout FusedMovingAvgObsFqHelper Gather Ge Gelu
        Geometric Geqrf Glu Gt Hardshrink Hardsigmoid Hardswish Hardtanh I0 Im2Col Index IndexFill IndexSelect
        Kthvalue LazyClone Le LeakyRelu LeakyRelu~1 Lgamma Lift LiftFresh LinalgCholeskyEx LinalgEig
        LinalgMatrixExp LinalgPinv LinalgVectorNorm Log Log10 Log1P Log2 LogNormal LogSigmoid LogSoftmax
        Logcumsumexp Logit Logsumexp Lt MaskedFill MaskedSelect MaskedSoftmax Max MaxPool2D MaxPool2DWithIndices
        MaxPool3DWithIndices MaxUnpool2D MaxUnpool3D Max~1 Mean Mean~1 Median Median~1 Min Min~1 Mish
        MkldnnAdaptiveAvgPool2D MkldnnMaxPool2D MkldnnMaxPool3D MkldnnReshape Mode MultiMarginLoss
        MultilabelMarginLoss Mul~1 Mvlgamma NanToNum Nanmedian Nanmedian~1 Nansum NarrowCopy Ne Neg NegView
        NestedGetValues NestedViewFromBuffer NestedViewFromJagged NllLoss NllLoss2D Norm Normal Norm~1 Norm~2
        Norm~3 Pdist Permute PinMemory PixelShuffle PixelUnshuffle Poisson Polygamma Polygamma~1 Pow Prod Prod~1
        Rad2Deg Random Random~1 Random~2 Reciprocal ReflectionPad1D ReflectionPad2D ReflectionPad3D Relu
        Remainder Renorm Repeat ReplicationPad1D ReplicationPad2D ReplicationPad3D ReshapeAlias ReshapeCopy Roll
        Rot90 Round Round~1 RreluWithNoise RreluWithNoiseFunctional RreluWithNoise~1 Rsqrt Rsub~1 SafeSoftmax
        Scatter~1 Select Sgn Sigmoid Sign Silu Sin Sinc Sinh Slice SoftMarginLoss Softmax Softplus Softshrink
        Sort Sort~1 SparseLogSoftmax SparseMask SparseSoftmax SparseSum SpecialEntr SpecialErfcx SpecialI0E
        SpecialI1 SpecialI1E SpecialLogNdtr SpecialNdtri SpecialXlog1Py~2 SpecialZeta~2 Split SplitWithSizes
        Sqrt Squeeze Squeeze~1 Squeeze~2 Squeeze~3 Squeeze~4 Squeeze~5 StandardGamma StandardGammaGrad Std
        StdMean Sub~1 Sum Sum~1 T Take Tan Tanh TestAutogradMultipleDispatch TestAutogradMultipleDispatchView
        TestAutogradMultipleDispatch~1 TestWarnInAutograd Threshold Threshold~1 ToCopy ToDense ToMkldnn
        ToPaddedTensor ToSparse ToSparseBsc ToSparseBsr ToSparseCsc ToSparseCsr ToSparse~1 Topk Trace Transpose
        Transpose~1 Tril Triu Trunc T~1 Unbind Unfold Uniform Unique Unique2 UniqueConsecutive UniqueDim
        UniqueDimConsecutive UnsafeIndex UnsafeMaskedIndex UnsafeSplit UnsafeSplitWithSizes UnsafeView Unsqueeze
        Unsqueeze~1 UpsampleBicubic2D UpsampleBicubic2DAa UpsampleBilinear2D UpsampleBilinear2DAa
        UpsampleLanczos2DAa UpsampleLinear1D UpsampleNearest1D UpsampleNearest2D UpsampleNearest3D
        UpsampleNearestExact1D UpsampleNearestExact2D UpsampleNearestExact3D UpsampleTrilinear3D Values Var
        VarMean View ViewAsComplex ViewAsReal Xlogy~2 Zero
    """,
    "self other": """
        Add Atan2 Copysign Dist Div Div~2 Eq~1 Fmax Fmin Fmod~1 Ge~1 Gt~1 Hypot Igamma Igammac Ldexp Le~1
        LinalgCross Logaddexp Logaddexp2 Lt~1 Matmul Maximum Minimum Mul Nextafter Ne~1 Remainder~1 Rsub
        SparseMmReduceImpl SparseSparseMatmul SpecialXlog1Py SpecialZeta Sub Vdot Where Xlogy
    """,
    "grad_output self": """
        AdaptiveAvgPool2DBackward AdaptiveAvgPool3DBackward AdaptiveMaxPool2DBackward AdaptiveMaxPool3DBackward
        AvgPool2DBackward AvgPool3DBackward FractionalMaxPool2DBackward FractionalMaxPool3DBackward GeluBackward
        GluBackward HardswishBackward HardtanhBackward LeakyReluBackward LogSigmoidBackward MaxPool2DBackward
        MaxPool2DWithIndicesBackward MaxPool3DWithIndicesBackward NllLoss2DBackward NllLossBackward
        ReflectionPad1DBackward ReflectionPad2DBackward ReflectionPad3DBackward ReplicationPad1DBackward
        ReplicationPad2DBackward ReplicationPad3DBackward RreluWithNoiseBackward SoftMarginLossBackward
        SoftplusBackward SoftshrinkBackward ThresholdBackward
    """,
    "grad_output": """
        DiagonalBackward EmbeddingDenseBackward MaskedScatterBackward SelectBackward SliceBackward
        UpsampleBicubic2DAaBackward UpsampleBicubic2DBackward UpsampleBilinear2DAaBackward
        UpsampleBilinear2DBackward UpsampleLanczos2DAaBackward UpsampleLinear1DBackward
        UpsampleNearest1DBackward UpsampleNearest2DBackward UpsampleNearest3DBackward
        UpsampleNearestExact1DBackward UpsampleNearestExact2DBackward UpsampleNearestExact3DBackward
        UpsampleTrilinear3DBackward
    """,
    "input weight bias": """
        BatchNormNoUpdate BatchNormWithUpdate Convolution ConvolutionOverrideable Convolution~1 CudnnBatchNorm
        Linear MiopenBatchNorm NativeBatchNorm NativeBatchNormLegit NativeBatchNormLegitNoTraining
        NativeBatchNormLegit~1 NativeGroupNorm NativeLayerNorm NnpackSpatialConvolution
    """,
    "self weight bias": """
        ConvDepthwise2D ConvDepthwise3D ConvTbc MiopenConvolution MiopenConvolutionTranspose
        MiopenDepthwiseConvolution MkldnnConvolution MkldnnLinear MpsConvolution SlowConv2D SlowConv3D
        SlowConvDilated2D SlowConvDilated3D SlowConvTranspose2D SlowConvTranspose3D
    """,
    "A": "LinalgDet LinalgEigh LinalgInvEx LinalgLu LinalgLuFactorEx LinalgQr LinalgSlogdet LinalgSvd",
    "self src": """
        AsStridedScatter DiagonalScatter Scatter ScatterAdd ScatterReduce SelectScatter SliceInverse
        SliceScatter
    """,
    "log_probs": "CtcLoss CtcLoss~1 CudnnCtcLoss CudnnCtcLoss~1 MiopenCtcLoss MiopenCtcLoss~1",
    "self*": "ForeachMaximum ForeachMaximum~1 ForeachMinimum ForeachMinimum~1 ForeachNorm ForeachPow~1",
    "query key value": """
        CudnnAttention FlashAttention ScaledDotProductCudnnAttention ScaledDotProductFlashAttention
        ScaledDotProductFlashAttentionForCpu
    """,
    "self source": "IndexAdd IndexCopy IndexReduce MaskedScatter Put",
    "self target": "BinaryCrossEntropy BinaryCrossEntropyWithLogits HuberLoss MseLoss SmoothL1Loss",
    "grad_output output": "LogSoftmaxBackwardData SigmoidBackward SoftmaxBackwardData TanhBackward",
    "grad_output self target": """
        BinaryCrossEntropyBackward HuberLossBackward MseLossBackward SmoothL1LossBackward
    """,
    "self value": "Fill~1 Fill~3 IndexFill~1 MaskedFill~1",
    "self values": "IndexPut IndexPutImpl UnsafeIndexPut UnsafeMaskedIndexPutAccumulate",
    "self weight": "CudnnConvolution CudnnConvolutionTranspose MpsConvolutionTranspose PreluKernel",
    "grad_output input grid": """
        GridSampler2DBackward GridSampler2DCpuFallbackBackward GridSampler3DBackward
    """,
    "input grid": "GridSampler2D GridSampler2DCpuFallback GridSampler3D",
    "other": "SpecialXlog1Py~1 SpecialZeta~1 Xlogy~1",
    "self mat1 mat2": "Addmm SparseAddmm SparseSampledAddmm",
    "self mat2": "Bmm GroupedMm Mm",
    "tensors*": "BlockDiag Cat Stack",
    "grad per_sample_weights": "EmbeddingBagBackward EmbeddingBagDenseBackward",
    "grad_output input weight": "ConvolutionBackward ConvolutionBackwardOverrideable",
    "grad_output self weight": "PreluKernelBackward SlowConv2DBackward",
    "input": "NativeDropout PackPaddedSequence",
    "input weight* hx cx": "CudnnRnn MiopenRnn",
    "padded": "NestedFromPadded NestedFromPaddedTensor",
    "query key value attn_bias": """
        ScaledDotProductEfficientAttention ScaledDotProductFusedAttentionOverrideable
    """,
    "self batch1 batch2": "Addbmm Baddbmm",
    "self grad_output weight": "LinearBackward MpsConvolutionBackward",
    "self scale zero_point": "FakeQuantizeLearnablePerChannelAffine FakeQuantizeLearnablePerTensorAffine",
    "self tensor1 tensor2": "Addcdiv Addcmul",
    "theta": "AffineGridGenerator CudnnAffineGridGenerator",
    "values": "SparseCompressedTensor SparseCooTensorWithDimsAndTensors",
    "x1 x2": "Cdist EuclideanDist",
    "A B": "LinalgSolveEx",
    "LU B": "LinalgLuSolve",
    "LU_data": "LuUnpack",
    "abs angle": "Polar",
    "data": "SegmentReduce",
    "exponent": "Pow~2",
    "exponent*": "ForeachPow~2",
    "grad self pdist": "PdistBackward",
    "grad x1 x2 cdist": "CdistBackward",
    "grad_in": "UnfoldBackward",
    "grad_out input mean rstd weight bias": "NativeLayerNormBackward",
    "grad_out input weight save_mean save_invstd": "NativeBatchNormBackward",
    "grad_out input weight save_mean save_var reserve": "BatchNormBackward",
    "grad_out self": "HardshrinkBackward",
    "grad_output mask": "NativeDropoutBackward",
    "grad_output self_or_result": "EluBackward",
    "i1 i2 i3": "Trilinear",
    "input grad_output weight save_mean save_var": "MiopenBatchNormBackward",
    "input grad_output weight save_mean save_var reserveSpace": "CudnnBatchNormBackward",
    "input hx* params*": "LstmMps",
    "input tau": "LinalgHouseholderProduct",
    "input weight": "FusedRmsNorm",
    "input weight* hx cx output grad_output grad_hy grad_cy": "CudnnRnnBackward",
    "input weight0 weight1 weight2 weight3 hx_ cx_": "MkldnnRnnLayer",
    "input_gates hidden_gates cx input_bias hidden_bias": "ThnnFusedLstmCell",
    "input_gates hidden_gates hx input_bias hidden_bias": "ThnnFusedGruCell",
    "list*": "NestedTensorFromTensorList",
    "mean": "Normal~1",
    "mean std": "Normal~3",
    "query key value bias": "EfficientAttention",
    "real imag": "Complex",
    "self A": "TriangularSolve",
    "self B": "LinalgSolveTriangular",
    "self b": "LinalgLstsq",
    "self end": "Lerp",
    "self end weight": "Lerp~1",
    "self exponent": "Pow~1",
    "self grid": "CudnnGridSampler",
    "self grid grad_output": "CudnnGridSamplerBackward",
    "self input2": "CholeskySolve",
    "self input2 input3": "Ormqr",
    "self mat vec": "Addmv",
    "self max": "ClampMax~1",
    "self min": "ClampMin~1",
    "self min max": "Clamp",
    "self p": "Bernoulli~1",
    "self tensor": "Dot",
    "self vec": "Mv",
    "self vec1 vec2": "Addr",
    "self* exponent*": "ForeachPow",
    "self* mat2*": "ForeachMm",
    "self* other*": "ForeachDiv",
    "std": "Normal~2",
    "t": "NestedTensorFromMask",
    "v g": "WeightNormInterface",
    "weight": "Embedding",
    "weight per_sample_weights": "EmbeddingBag",
}


def _read() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for arguments, nodes in _TABLE.items():
        for word in nodes.split():
            name, _, number = word.partition("~")
            found[f"{name}Backward{number or 0}"] = tuple(arguments.split())
    return found


ARGUMENTS = _read()
