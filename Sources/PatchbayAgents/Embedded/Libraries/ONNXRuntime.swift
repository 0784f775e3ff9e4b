internal import Glibc
internal import Synchronization

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

/// ONNX Runtime through its C API, opened at run time because no header is distributed with the library.
///
/// The API is a table of functions whose order never changes; new functions are appended (onnxruntime_c_api.h, `OrtApi`). There is one
/// environment per process.
///
/// `@unchecked Sendable`: its pointers are immutable after the initializer and never freed, and ONNX Runtime allows calls from all threads.
@safe final class ONNXRuntime: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer
    /// Owned by the caller if not nil.
    typealias Status = UnsafeMutableRawPointer?
    typealias Names = UnsafePointer<UnsafePointer<CChar>?>

    typealias Release = @convention(c) (Object) -> Void
    typealias CreateSession =
        @convention(c) (Object, UnsafePointer<CChar>, Object, UnsafeMutablePointer<Object?>) -> Status
    typealias CreateTensor =
        @convention(c) (Object, Object, Int, UnsafePointer<Int64>, Int, Int32, UnsafeMutablePointer<Object?>) -> Status
    typealias Run =
        @convention(c) (
            Object, Object?, Names, UnsafePointer<Object?>, Int, Names, Int, UnsafeMutablePointer<Object?>
        ) -> Status
    typealias GetObject = @convention(c) (Object, UnsafeMutablePointer<Object?>) -> Status
    typealias GetCount = @convention(c) (Object, UnsafeMutablePointer<Int>) -> Status

    /// The oldest version of the API that has the functions in use.
    private static let version: UInt32 = 17
    /// Errors only; ONNX Runtime logs to the standard error stream.
    private static let logSeverity: Int32 = 3

    private static let opened = Mutex<[String: ONNXRuntime]>([:])

    private let functions: UnsafePointer<Object>
    private let environment: Object
    private let sessionOptions: Object
    let memory: Object

    let run: Run
    let createTensor: CreateTensor
    let tensorData: GetObject
    let tensorShape: GetObject
    let elementCount: GetCount
    let releaseShape: Release
    let releaseValue: Release
    let releaseSession: Release

    /// The runtime of the process; opens the library on first use.
    ///
    /// - Throws: `ProviderError` with code `unavailable`.
    static func shared(_ models: ModelsFolder) throws(ProviderError) -> ONNXRuntime {
        let path = models.runtimeLibrary
        let result: Result<ONNXRuntime, ProviderError> = opened.withLock { opened in
            if let runtime = opened[path] { return .success(runtime) }
            return Result { () throws(ProviderError) in
                let runtime = try ONNXRuntime(DynamicLibrary(path))
                opened[path] = runtime
                return runtime
            }
        }
        return try result.get()
    }

    private init(_ library: DynamicLibrary) throws(ProviderError) {
        typealias GetBase = @convention(c) () -> UnsafePointer<Object>
        typealias GetFunctions = @convention(c) (UInt32) -> UnsafePointer<Object>?
        typealias CreateEnvironment = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutablePointer<Object?>) -> Status
        typealias Create = @convention(c) (UnsafeMutablePointer<Object?>) -> Status
        typealias SetNumber = @convention(c) (Object, Int32) -> Status
        typealias CreateMemory = @convention(c) (Int32, Int32, UnsafeMutablePointer<Object?>) -> Status

        let base = unsafe try library.function("OrtGetApiBase", as: GetBase.self)()
        guard let functions = unsafe unsafeBitCast(base[0], to: GetFunctions.self)(Self.version) else {
            throw ProviderError(.unavailable, "\(library.path) is too old. Run `scripts/setup-models` again.")
        }
        func function<Function>(_ slot: Int, _ type: Function.Type) -> Function { unsafe unsafeBitCast(functions[slot], to: type) }

        unsafe self.functions = functions
        unsafe environment = try Self.create(functions) { unsafe function(3, CreateEnvironment.self)(Self.logSeverity, "patchbay", $0) }
        unsafe sessionOptions = try Self.create(functions) { unsafe function(10, Create.self)($0) }
        // One thread within and between operators: the models are small, and calls are concurrent.
        unsafe try Self.check(function(24, SetNumber.self)(sessionOptions, 1), functions)
        unsafe try Self.check(function(25, SetNumber.self)(sessionOptions, 1), functions)
        // An arena in ordinary memory.
        unsafe memory = try Self.create(functions) { unsafe function(69, CreateMemory.self)(1, 0, $0) }
        unsafe run = function(9, Run.self)
        unsafe createTensor = function(49, CreateTensor.self)
        unsafe tensorData = function(51, GetObject.self)
        unsafe elementCount = function(64, GetCount.self)
        unsafe tensorShape = function(65, GetObject.self)
        unsafe releaseSession = function(95, Release.self)
        unsafe releaseValue = function(96, Release.self)
        unsafe releaseShape = function(99, Release.self)
    }

    func makeSession(_ model: String) throws(ProviderError) -> Object {
        let createSession = unsafe unsafeBitCast(functions[7], to: CreateSession.self)
        return unsafe try Self.create(functions) { unsafe createSession(environment, model, sessionOptions, $0) }
    }

    private static func create(
        _ functions: UnsafePointer<Object>, _ body: (UnsafeMutablePointer<Object?>) -> Status
    ) throws(ProviderError) -> Object {
        var object: Object?
        unsafe try check(body(&object), functions)
        return unsafe object!
    }

    /// Converts a status to an error and frees it.
    func check(_ status: Status) throws(ProviderError) {
        unsafe try Self.check(status, functions)
    }

    private static func check(_ status: Status, _ functions: UnsafePointer<Object>) throws(ProviderError) {
        guard let status = unsafe status else { return }
        typealias Message = @convention(c) (Object) -> UnsafePointer<CChar>
        let message = unsafe String(cString: unsafeBitCast(functions[2], to: Message.self)(status))
        unsafe unsafeBitCast(functions[93], to: Release.self)(status)
        throw ProviderError(.unavailable, "ONNX Runtime: \(message)")
    }
}
