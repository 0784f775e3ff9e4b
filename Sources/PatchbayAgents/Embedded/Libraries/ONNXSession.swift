internal import Glibc

/// A loaded model with named inputs and outputs. Thread-safe.
///
/// `@unchecked Sendable`: its pointers are immutable after the initializer, and ONNX Runtime allows concurrent runs of a session.
@safe final class ONNXSession: @unchecked Sendable {
    /// The values of an input tensor.
    enum Input {
        case float([Float], shape: [Int64])
        case int64([Int64], shape: [Int64])
    }

    private let runtime: ONNXRuntime
    private let session: ONNXRuntime.Object
    private let inputs: [UnsafePointer<CChar>?]
    private let outputs: [UnsafePointer<CChar>?]

    /// - Parameters:
    ///   - model: the path of an ONNX file.
    ///   - inputs: names, in the order in which `run` takes their values.
    ///   - outputs: names, in the order in which `run` returns their values.
    /// - Throws: `ProviderError` with code `unavailable`.
    init(_ model: String, runtime: ONNXRuntime, inputs: [String], outputs: [String]) throws(ProviderError) {
        self.runtime = runtime
        unsafe session = try runtime.makeSession(model)
        unsafe self.inputs = inputs.map { unsafe UnsafePointer(strdup($0)) }
        unsafe self.outputs = outputs.map { unsafe UnsafePointer(strdup($0)) }
    }

    deinit {
        unsafe runtime.releaseSession(session)
        unsafe (inputs + outputs).forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
    }

    /// Runs the model. All outputs must be tensors of 32-bit floats.
    ///
    /// - Throws: `ProviderError`.
    func run(_ values: [Input]) throws(ProviderError) -> [[Float]] {
        precondition(unsafe values.count == inputs.count, "one value for each input")
        var buffers: [UnsafeMutableRawPointer] = unsafe []
        var tensors: [ONNXRuntime.Object?] = unsafe []
        var results = unsafe [ONNXRuntime.Object?](repeating: nil, count: outputs.count)
        defer {
            unsafe (tensors + results).forEach { if let tensor = unsafe $0 { unsafe runtime.releaseValue(tensor) } }
            unsafe buffers.forEach { unsafe $0.deallocate() }
        }
        for value in values {
            let (buffer, byteCount) = unsafe Self.buffer(of: value)
            unsafe buffers.append(buffer)
            unsafe tensors.append(try tensor(of: value, in: buffer, byteCount: byteCount))
        }
        unsafe try runtime.check(runtime.run(session, nil, inputs, tensors, tensors.count, outputs, outputs.count, &results))
        var arrays: [[Float]] = []
        for index in unsafe results.indices { unsafe arrays.append(try floats(of: results[index]!)) }
        return arrays
    }

    /// A copy of the values, because the tensor refers to them during the run.
    private static func buffer(of value: Input) -> (UnsafeMutableRawPointer, byteCount: Int) {
        func copy<Value: BitwiseCopyable>(_ values: [Value]) -> (UnsafeMutableRawPointer, byteCount: Int) {
            let byteCount = values.count * MemoryLayout<Value>.stride
            let buffer = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
            unsafe values.withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(start: buffer, count: byteCount).copyMemory(from: $0) }
            return unsafe (buffer, byteCount)
        }
        return switch value {
        case .float(let values, _): unsafe copy(values)
        case .int64(let values, _): unsafe copy(values)
        }
    }

    private func tensor(
        of value: Input, in buffer: UnsafeMutableRawPointer, byteCount: Int
    ) throws(ProviderError) -> ONNXRuntime.Object {
        // ONNXTensorElementDataType.
        let (shape, type): ([Int64], Int32) =
            switch value {
            case .float(_, let shape): (shape, 1)
            case .int64(_, let shape): (shape, 7)
            }
        var tensor: ONNXRuntime.Object?
        unsafe try runtime.check(runtime.createTensor(runtime.memory, buffer, byteCount, shape, shape.count, type, &tensor))
        return unsafe tensor!
    }

    private func floats(of tensor: ONNXRuntime.Object) throws(ProviderError) -> [Float] {
        var shape: ONNXRuntime.Object?
        unsafe try runtime.check(runtime.tensorShape(tensor, &shape))
        defer { unsafe runtime.releaseShape(shape!) }
        var count = 0
        unsafe try runtime.check(runtime.elementCount(shape!, &count))
        var data: ONNXRuntime.Object?
        unsafe try runtime.check(runtime.tensorData(tensor, &data))
        guard count > 0, let data = unsafe data else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: data, count: count * MemoryLayout<Float>.stride).bindMemory(to: Float.self))
    }
}
