internal import Glibc

/// A shared library that is opened at run time and stays open.
///
/// Opened with `RTLD_LOCAL`, so that its symbols do not mix with those of other libraries in the process.
@safe struct DynamicLibrary {
    let path: String
    private let handle: UnsafeMutableRawPointer

    /// - Throws: `ProviderError` with code `unavailable`.
    init(_ path: String) throws(ProviderError) {
        guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw ProviderError(.unavailable, "Cannot load \(path): \(Self.reason). Run `scripts/setup-models` again.")
        }
        self.path = path
        unsafe self.handle = handle
    }

    /// The function `name`, which the caller declares as a `@convention(c)` type. A wrong type is undefined behavior.
    ///
    /// - Throws: `ProviderError` with code `unavailable` if the library has no such symbol.
    @unsafe func function<Function>(_ name: String, as type: Function.Type) throws(ProviderError) -> Function {
        guard let symbol = unsafe dlsym(handle, name) else {
            throw ProviderError(.unavailable, "\(path) has no symbol \(name): \(Self.reason). Run `scripts/setup-models` again.")
        }
        return unsafe unsafeBitCast(symbol, to: type)
    }

    private static var reason: String {
        guard let text = unsafe dlerror() else { return "unknown reason" }
        return unsafe String(cString: text)
    }
}
