internal import CLibwebsockets

/// The query of a URL, the first of several values of a name: lws keeps it as fragments, one for each `name=value`, already percent-decoded.
package struct Query: Sendable {
    private var items: [(name: Substring, value: Substring)] = []

    init(of wsi: OpaquePointer) {
        var index: Int32 = 0
        while true {
            let length = unsafe Int(lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, index))
            guard length > 0 else { return }
            var buffer = [CChar](repeating: 0, count: length + 1)
            guard unsafe lws_hdr_copy_fragment(wsi, &buffer, Int32(buffer.count), WSI_TOKEN_HTTP_URI_ARGS, index) >= 0 else { return }
            let item = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append((parts[0], parts.count > 1 ? parts[1] : ""))
            index += 1
        }
    }

    package subscript(name: String) -> String? {
        items.first { $0.name == name }.map { String($0.value) }
    }
}
