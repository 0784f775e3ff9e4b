/// The body of a `multipart/form-data` request (RFC 7578).
package struct MultipartForm: Sendable {
    package let boundary: String
    private var content: [UInt8] = []

    /// - Parameter boundary: 1 to 70 letters and digits that occur in no part: a random text.
    package init(boundary: String) {
        self.boundary = boundary
    }

    package var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The body with its end.
    package var bytes: [UInt8] { content + "--\(boundary)--\r\n".utf8 }

    package mutating func append(_ name: StaticString, _ text: String) {
        append("Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n", Array(text.utf8))
    }

    package mutating func append(_ name: StaticString, fileName: StaticString, type: StaticString, _ file: [UInt8]) {
        append("Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(fileName)\"\r\nContent-Type: \(type)\r\n\r\n", file)
    }

    private mutating func append(_ head: String, _ body: [UInt8]) {
        content += "--\(boundary)\r\n\(head)".utf8
        content += body
        content += "\r\n".utf8
    }
}
