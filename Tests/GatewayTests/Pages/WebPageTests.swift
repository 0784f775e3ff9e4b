import Foundation
import Gateway
import Testing
import WebPages

/// The gateway's own web pages: the files of `Web`, and a few made-up ones.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct WebPageTests {
    private let gateway: TestGateway
    private static let script = Array("export const answer = 42 // ".utf8) + Array(repeating: UInt8(ascii: "x"), count: 4_000)
    private static let files = [
        WebFile(path: "playground/index.html", content: Array("<!doctype html><title>t</title>".utf8)),
        WebFile(path: "patchbay.js", content: script), WebFile(path: "patchbay.d.ts", content: [65]),
        WebFile(path: "playground/parts/icon.svg", content: Array("<svg/>".utf8)), WebFile(path: "playground/style.css", content: []),
        WebFile(path: "sessions/index.html", content: Array("<!doctype html><title>s</title>".utf8)),
        WebFile(path: "calls/index.html", content: Array("<!doctype html><title>c</title>".utf8)),
        WebFile(path: "dashboard/index.html", content: Array("<!doctype html><title>d</title>".utf8)),
        WebFile(path: "dist/patchbay.js", content: Array("bundle".utf8)),
        WebFile(path: "data.json", content: Array("{}".utf8)),
        WebFile(path: "tone.bin", content: [0, 255, 128, 10, 13]),
    ]

    init() throws {
        gateway = try TestGateway(routes: WebPages.routes(Self.files, release: "1.2.3")) { $0.edge.servesPages = false }
    }

    private func ask(_ path: String, _ fields: [(name: String, value: String)] = [], method: String = "GET") throws -> HTTPAnswer {
        try #require(try HTTPConnection(gateway).answer(to: HTTPAsk(method: method, path: path, fields: fields)))
    }

    @Test func frontPageIsThePlayground() throws {
        let answer = try ask("/")
        #expect(answer.status == 200 && answer.body == Self.files[0].content)
        #expect(try ask("/web/playground/index.html").body == answer.body)
    }

    @Test(arguments: ["sessions", "calls", "dashboard"]) func pagesHaveAddressesOfTheirOwn(page: String) throws {
        let answer = try ask("/" + page)
        let file = try #require(Self.files.first { $0.path == "\(page)/index.html" })
        #expect(answer.status == 200 && answer.body == file.content)
        #expect(answer.fields["content-type"] == "text/html; charset=utf-8" && answer.fields["content-security-policy"] != nil)
    }

    @Test func pageWithoutItsFileIsNotServed() throws {
        let gateway = try TestGateway(routes: WebPages.routes(Self.files.filter { $0.path != "sessions/index.html" }, release: nil)) {
            $0.edge.servesPages = false
        }
        #expect(try gateway.get("/sessions")?.status == 404)
        #expect(try gateway.get("/dashboard")?.status == 200)
    }

    @Test(arguments: ["/", "/sessions", "/calls", "/dashboard", "/web/patchbay.js", "/web/playground/parts/icon.svg"])
    func pagesAreServedWithTheirPolicy(path: String) throws {
        let fields = try ask(path).fields
        #expect(
            fields["content-security-policy"]
                == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' wss: ws:; "
                + "media-src 'self' blob:; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'")
        #expect(fields["x-content-type-options"] == "nosniff")
        #expect(fields["referrer-policy"] == "no-referrer")
        #expect(fields["cross-origin-opener-policy"] == "same-origin")
        #expect(fields["cache-control"] == "no-cache")
        #expect(fields["etag"]?.wholeMatch(of: /W\/"[0-9a-f]{64}"/) != nil)
    }

    @Test(arguments: [
        ("/", "text/html; charset=utf-8"), ("/web/patchbay.js", "text/javascript; charset=utf-8"),
        ("/web/patchbay.d.ts", "text/plain; charset=utf-8"), ("/web/playground/parts/icon.svg", "image/svg+xml"),
        ("/web/playground/style.css", "text/css; charset=utf-8"), ("/web/data.json", "application/json"),
        ("/web/tone.bin", "application/octet-stream"),
    ]) func contentTypeFollowsTheName(path: String, type: String) throws {
        #expect(try ask(path).fields["content-type"] == type)
    }

    @Test func contentIsServedByteForByte() throws {
        for file in Self.files { #expect(try ask("/web/" + file.path).body == file.content, "\(file.path)") }
    }

    // MARK: Conditional requests

    @Test func knownPageIsNotSentAgain() throws {
        let connection = try HTTPConnection(gateway)
        let tag = try #require(try connection.answer(to: HTTPAsk(path: "/web/patchbay.js"))?.fields["etag"])
        for field in [tag, "\"x\", \(tag)", String(tag.dropFirst(2)), "*"] {
            let ask = HTTPAsk(path: "/web/patchbay.js", fields: [("If-None-Match", field), ("Accept-Encoding", "gzip")])
            let answer = try #require(try connection.answer(to: ask))
            #expect(answer.status == 304 && answer.body.isEmpty && answer.fields["content-length"] == nil, "\(field)")
            #expect(answer.fields["etag"] == tag && answer.fields["cache-control"] == "no-cache")
            #expect(answer.fields["vary"] == "Accept-Encoding" && answer.fields["content-security-policy"] != nil)
        }
        let other = HTTPAsk(path: "/web/patchbay.js", fields: [("If-None-Match", "\"\(String(repeating: "0", count: 64))\"")])
        #expect(try connection.answer(to: other)?.status == 200)
        #expect(try connection.answer(to: HTTPAsk(path: "/web/patchbay.d.ts", fields: [("If-None-Match", tag)]))?.status == 200)
    }

    @Test func headHasTheSameFieldsAndNoContent() throws {
        let (head, whole) = (try ask("/web/patchbay.js", method: "HEAD"), try ask("/web/patchbay.js"))
        #expect(head.status == 200 && head.body.isEmpty && head.fields["content-length"] == "\(Self.script.count)")
        #expect(head.fields["etag"] == whole.fields["etag"] && head.fields["content-type"] == whole.fields["content-type"])
        let tag = try #require(whole.fields["etag"])
        #expect(try ask("/web/patchbay.js", [("If-None-Match", tag)], method: "HEAD").status == 304)
    }

    @Test func scriptsAreCompressed() throws {
        let answer = try ask("/web/patchbay.js", [("Accept-Encoding", "gzip")])
        #expect(answer.fields["content-encoding"] == "gzip" && answer.body.count < Self.script.count / 2)
        #expect(try ask("/web/patchbay.js").fields["etag"] == answer.fields["etag"])
    }

    // MARK: Bundles

    @Test func bundleOfTheReleaseIsCachedForEver() throws {
        let answer = try ask("/web/1.2.3/patchbay.js")
        #expect(answer.status == 200 && answer.text == "bundle")
        #expect(answer.fields["cache-control"] == "public, max-age=31536000, immutable")
        #expect(answer.fields["content-type"] == "text/javascript; charset=utf-8" && answer.fields["etag"] != nil)
        #expect(try ask("/web/dist/patchbay.js").fields["cache-control"] == "no-cache")
    }

    @Test(arguments: ["1.2.2", "1.2.4", "0.0.1", "10.20.30"]) func anotherVersionRedirectsToTheBundle(version: String) throws {
        let answer = try ask("/web/\(version)/patchbay.js")
        #expect(answer.status == 302 && answer.fields["location"] == "/web/dist/patchbay.js")
        #expect(answer.fields["cache-control"] == "no-cache")
    }

    @Test func developmentBuildHasNoImmutableBundle() throws {
        let gateway = try TestGateway(routes: WebPages.routes(Self.files, release: nil)) { $0.edge.servesPages = false }
        #expect(try gateway.get("/web/1.2.3/patchbay.js")?.status == 302)
    }

    @Test(arguments: ["1.2.3/nothing.js", "1.2.3/data.json", "1.2/patchbay.js", "1.2.3.4/patchbay.js", "1.2.x/patchbay.js", "1.2.3/"])
    func versionsHaveNothingButBundles(path: String) throws {
        #expect(try ask("/web/" + path).status == 404)
    }

    // MARK: What is not there

    @Test(arguments: [
        "/web", "/web/", "/web/nothing.js", "/web/playground", "/web/playground/", "/web/playground/parts/icon.svg/x",
        "/web/a/b/c/d/e/f.js",
        "/web/PATCHBAY.js", "/web/patchbay.js%00", "/web/../Package.swift", "/web/%2e%2e/Package.swift", "/web/..%2fPackage.swift",
        "/sessions/", "/dashboard/index.html", "/web/../../../../etc/passwd", "/web//etc/passwd", "/playground/index.html", "/index.html",
        "/favicon.ico",
    ]) func nothingElseIsServed(path: String) throws {
        let answer = try ask(path)
        #expect(answer.status == 404 || answer.status == 400, "\(answer.status)")
        #expect(answer.code == "not_found" || answer.code == "invalid_path" || answer.code == "bad_request")
    }

    @Test func otherMethodsAreRefused() throws {
        let answer = try ask("/web/patchbay.js", [("Content-Length", "0")], method: "POST")
        #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD, OPTIONS")
    }

    @Test func pagesCanBeTurnedOff() throws {
        let gateway = try TestGateway { $0.edge.servesPages = false }
        for path in ["/", "/sessions", "/calls", "/dashboard", "/web/patchbay.js", "/web/playground/index.html"] {
            #expect(try gateway.get(path)?.status == 404, "\(path)")
        }
        #expect(try gateway.get("/openapi.json")?.text.contains("/web/") == false)
    }

    // MARK: The files of this program

    @Test func everyFileOfTheFolderIsInTheProgram() throws {
        let folder = URL(filePath: Repository.path("Web"))
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let files = try names.filter { name in
            try !name.split(separator: "/").contains { $0.hasPrefix(".") || $0 == "package.json" }
                && folder.appending(path: name).resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
        }
        let bundles = ["patchbay", "patchbay-assistant", "patchbay-audio-button", "playback-worklet", "capture-worklet"].flatMap {
            ["dist/\($0).js", "dist/\($0).js.map"]
        }
        #expect(Set(WebFile.all.map(\.path)) == Set(files + bundles))
        let gateway = try TestGateway()
        let connection = try HTTPConnection(gateway)
        for file in WebFile.all {
            let isBundle = bundles.contains(file.path)
            let content = isBundle ? file.content : Array(try Data(contentsOf: folder.appending(path: file.path)))
            let answer = try #require(try connection.answer(to: HTTPAsk(path: "/web/" + file.path)))
            #expect(answer.status == 200 && answer.body == content, "\(file.path)")
            #expect(file.contentType != "application/octet-stream", "\(file.path)")
        }
    }
}
