internal import COpenSSL

/// Something of ours that lives in one of OpenSSL's connections.
class SSLGuest {
    /// The connection goes, or needs it no more.
    func freed() {}
}

/// A place in OpenSSL's connections for one of ours, which is released with them.
@safe final class SSLPlace<Object: SSLGuest>: Sendable {
    /// What OpenSSL calls the place; -1 if it has none left.
    private let index: Int32

    /// OpenSSL keeps a place for ever: make one for a process.
    init() {
        index = unsafe CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) { _, object, _, _, _, _ in
            guard let object = unsafe object else { return }
            let guest = unsafe Unmanaged<SSLGuest>.fromOpaque(object)
            unsafe guest.takeUnretainedValue().freed()
            unsafe guest.release()
        }
    }

    func object(of ssl: OpaquePointer) -> Unmanaged<Object>? {
        unsafe SSL_get_ex_data(ssl, index).map { unsafe Unmanaged<Object>.fromOpaque($0) }
    }

    /// - Returns: false if there is no place or no memory.
    func retain(_ object: Object, for ssl: OpaquePointer) -> Bool {
        unsafe release(of: ssl)
        let held = unsafe Unmanaged.passRetained(object)
        guard index >= 0, unsafe SSL_set_ex_data(ssl, index, held.toOpaque()) == 1 else {
            unsafe held.release()
            return false
        }
        return true
    }

    func release(of ssl: OpaquePointer) {
        guard let held = unsafe object(of: ssl) else { return }
        unsafe SSL_set_ex_data(ssl, index, nil)
        unsafe held.takeUnretainedValue().freed()
        unsafe held.release()
    }
}
