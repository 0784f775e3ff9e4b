// swift-tools-version: 6.2

import PackageDescription

// The package for Xcode: an app target depends on the product `CopilotApp`. The repository's own manifest builds and tests the folders on
// Linux.
let package = Package(
    name: "Copilot",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [.library(name: "CopilotApp", targets: ["CopilotApp"])],
    dependencies: [.package(name: "patchbay", path: "../..", traits: [])],
    targets: [
        .target(name: "CopilotModel", dependencies: [.product(name: "PatchbayClient", package: "patchbay")]),
        .target(name: "CopilotApp", dependencies: ["CopilotModel", .product(name: "PatchbayClient", package: "patchbay")]),
        .testTarget(
            name: "CopilotModelTests", dependencies: ["CopilotModel", .product(name: "PatchbayClient", package: "patchbay")]),
    ]
)
